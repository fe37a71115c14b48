#include "structmat/dense/lapack.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("R and V are those of the matrix", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  const double margin = 200 * double(epsilon<T>);
  for (const auto& [m, n] :
       {std::array<index_t, 2>{7, 4}, {4, 4}, {3, 6}, {1, 1}, {80, 40}, {5, 1}}) {
    const Array<T, 2> a = random.array<T, 2>({n, m});  // A^T: column-major when transposed
    const index_t smaller = std::min(m, n);

    // R^H R = A^H A
    Array<T, 2> qr = a;
    dense::qr_factor<T>(qr.view().transposed());
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        T expected{}, got{};
        for (index_t l = 0; l < m; ++l) expected += conjugate(a(i, l)) * a(j, l);
        for (index_t l = 0; l <= std::min({i, j, smaller - 1}); ++l)
          got += conjugate(qr(i, l)) * qr(j, l);
        CHECK(std::abs(got - expected) <= margin * double(m));
      }
    }

    // A^H A = V S^2 V^H, V^H V = I, values in descending order
    Array<T, 2> work = a, vh({n, smaller});
    Array<real_t<T>, 1> s({smaller}), only({smaller});
    dense::svd_right<T>(work.view().transposed(), s, vh.view().transposed());
    work = a;
    dense::singular_values<T>(work.view().transposed(), only);
    for (index_t l = 0; l < smaller; ++l) {
      CHECK(std::abs(s(l) - only(l)) <= margin);
      if (l > 0) CHECK(s(l - 1) >= s(l));
    }
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        T expected{}, got{};
        for (index_t l = 0; l < m; ++l) expected += conjugate(a(i, l)) * a(j, l);
        for (index_t l = 0; l < smaller; ++l) got += conjugate(vh(i, l)) * vh(j, l) * (s(l) * s(l));
        CHECK(std::abs(got - expected) <= margin * double(m));
      }
    }
  }
}

TEMPLATE_TEST_CASE("eigenvalues are the roots of the characteristic polynomial", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {0, 1, 2, 5, 20}) {
    // A triangular matrix, transformed by the unit lower triangular one of ones: A = L U L^-1.
    auto u = random.array<T, 2>({n, n});
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < i; ++j) u(i, j) = 0;
      u(i, i) = T(real_t<T>(i + 1));
      for (index_t j = i + 1; j < n; ++j) u(i, j) *= real_t<T>(0.1);
    }
    Array<T, 2> a({n, n});
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        for (index_t k = 0; k <= i; ++k) a(i, j) += u(k, j) - (j + 1 < n ? u(k, j + 1) : T{});
      }
    }
    Array<std::complex<real_t<T>>, 1> w({n});
    dense::eigenvalues<T>(a.view().reversed(0).reversed(1), w);  // similar, by the reversal
    std::vector<bool> found(n, false);
    for (const auto& value : w) {
      const auto nearest = index_t(std::lround(std::real(value))) - 1;
      REQUIRE((nearest >= 0 && nearest < n));
      CHECK_FALSE(found[nearest]);
      found[nearest] = true;
      CHECK(std::abs(value - std::complex<real_t<T>>(real_t<T>(nearest + 1))) <=
            1e4 * double(n) * double(epsilon<T>));
    }
  }
  // A rotation by 90 degrees: i and -i.
  Array<T, 2> rotation({2, 2});
  rotation(0, 1) = T(-1);
  rotation(1, 0) = T(1);
  Array<std::complex<real_t<T>>, 1> w({2});
  dense::eigenvalues<T>(rotation, w);
  CHECK(std::abs(w(0) + w(1)) <= 8 * double(epsilon<T>));
  CHECK(std::abs(w(0) * w(1) - std::complex<real_t<T>>(1)) <= 8 * double(epsilon<T>));
  CHECK_THROWS_AS(dense::eigenvalues<T>(Array<T, 2>({2, 3}), w), ShapeError);
  CHECK_THROWS_AS(dense::eigenvalues<T>(Array<T, 2>({3, 3}), w), ShapeError);
}

TEMPLATE_TEST_CASE("the inverse", "", float, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 7, 40}) {
    auto a = random.array<T, 2>({n, n});
    for (index_t i = 0; i < n; ++i) a(i, i) += T(real_t<T>(n));
    auto inverse = a;
    REQUIRE(dense::invert<T>(inverse.view().transposed()));
    double worst = 0;
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        T sum{i == j ? real_t<T>(-1) : real_t<T>(0)};
        for (index_t k = 0; k < n; ++k) sum += a(i, k) * inverse(k, j);
        worst = std::max(worst, double(std::abs(sum)));
      }
    }
    CHECK(worst <= 20 * double(n) * double(epsilon<T>));
  }
  Array<T, 2> singular({3, 3});
  singular(0, 0) = singular(2, 2) = T(1);
  CHECK_FALSE(dense::invert<T>(singular.view().transposed()));
  CHECK_THROWS_AS(dense::invert<T>(Array<T, 2>({2, 3}).view()), ShapeError);
  Array<T, 2> wide({3, 8});
  const View<T, 2> gaps(wide.data(), {3, 3}, {8, 2});
  CHECK_THROWS_AS(dense::invert<T>(gaps), Unsupported);
}

TEST_CASE("LAPACK wrappers take empty matrices and refuse other layouts") {
  Array<double, 2> a({3, 4});
  Array<double, 1> s({3});
  CHECK_THROWS_AS(dense::qr_factor<double>(a.view()), Unsupported);
  Array<double, 1> wrong({2});
  CHECK(message_from<ShapeError>([&] {
          dense::singular_values<double>(a.view().transposed(), wrong.view());
        }) == "dense::singular_values: s has 2 entries, the matrix 3 singular values");
  Array<double, 2> empty({0, 5});
  dense::qr_factor<double>(empty.view().transposed());
  dense::singular_values<double>(empty.view().transposed(), View<double, 1>{});
}
