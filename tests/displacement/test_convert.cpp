#include "structmat/displacement/convert.hpp"

#include <catch2/catch.hpp>

#include "displacement/support.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::displacement::test;
namespace ds = structmat::displacement;

namespace {

template <Scalar T>
using complex_t = std::complex<real_t<T>>;

template <Scalar T>
Array<complex_t<T>, 2> widened(const Array<T, 2>& a) {
  Array<complex_t<T>, 2> c(a.extents());
  for (index_t i = 0; i < a.size(); ++i) c.data()[i] = a.data()[i];
  return c;
}

/// W of a shift, column by column from its definition W diag(z) W^-1 = A, with U_kj = z_k^j / sqrt n.
template <ComplexScalar T>
Array<T, 2> inverse_eigenvectors(const ds::Operator<T>& a, index_t n) {
  Array<T, 2> identity({n, n});
  for (index_t i = 0; i < n; ++i) identity(i, i) = 1;
  return ds::to_eigenbasis(a, View<const T, 2>(identity.view()));
}

template <ComplexScalar T>
Array<T, 2> eigenvectors(const ds::Operator<T>& a, index_t n) {
  Array<T, 2> identity({n, n});
  for (index_t i = 0; i < n; ++i) identity(i, i) = 1;
  return ds::from_eigenbasis(a, View<const T, 2>(identity.view()));
}

}  // namespace

TEST_CASE("eigenvectors of shifts") {
  using T = std::complex<double>;
  for (const index_t n : {1, 2, 5, 8}) {
    for (const T corner : {T(1), T(-1), T(0, 1), T(0.5, 0.25)}) {
      for (const bool plain : {true, false}) {
        const auto a = plain ? ds::shift<T>(corner) : ds::shift_transposed<T>(corner);
        const auto w = eigenvectors(a, n), inverse = inverse_eigenvectors(a, n);
        ds::Generators<T> unit{
            {ds::Kind::sylvester, a, ds::shift<T>(0)}, Array<T, 2>({n, 1}), Array<T, 2>({n, 1})};
        const auto roots = ds::diagonalise_left(unit).displacement.left;
        const auto aw = ds::apply_left<T>(a, w), wz = ds::apply_right<T>(w, roots);
        CHECK(relative_distance(aw, wz) <= 1e-14);
        const auto product = dense_product(w, inverse);
        CHECK(distance(product, entrywise(product, [](index_t i, index_t j) {
                         return T(i == j ? 1 : 0);
                       })) <= 1e-14 * double(n));
        // By definition: U = (z_k^j) / sqrt n is W^-1 of Z_f.
        for (index_t k = 0; plain && k < n; ++k) {
          for (index_t j = 0; j < n; ++j) {
            const T expected = std::pow(roots.x[k], double(j)) / std::sqrt(double(n));
            CHECK(std::abs(inverse(k, j) - expected) <= 1e-13);
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("toeplitz-like to vandermonde-like to cauchy-like, and back", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  using C = complex_t<T>;
  Random random(1);
  const double bound = 1000 * double(epsilon<T>);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {6, 6}, {7, 7}, {5, 8}}) {
    for (const auto& [left, right] : std::vector<std::pair<ds::Operator<T>, ds::Operator<T>>>{
             {ds::shift<T>(1), ds::shift<T>(m == n ? -1 : 2)},
             {ds::shift<T>(1), ds::shift_transposed<T>(m == n ? -1 : 2)},
             {ds::shift_transposed<T>(2), ds::shift<T>(1)}}) {
      INFO(m << " x " << n << ", kinds " << int(left.kind) << ", " << int(right.kind));
      // The plan does not take rectangular matrices whose roots nearly meet: m, n are chosen apart.
      const ds::Displacement<T> d{ds::Kind::sylvester, left, right};
      const auto x = random_generators(d, m, n, 2, random);
      const auto dense = widened(dense_of(x));
      const ds::Operator<C> a{left.kind, C(left.corner), {}}, b{right.kind, C(right.corner), {}};

      const auto v = ds::diagonalise_left(x);
      CHECK(v.displacement.left.kind == ds::OperatorKind::diagonal);
      const auto expected_v = dense_product(inverse_eigenvectors(a, m), dense);
      CHECK(relative_distance(dense_of(v), expected_v) <= bound);

      const auto c = ds::diagonalise_right(v);
      const auto expected_c = dense_product(expected_v, eigenvectors(b, n));
      CHECK(relative_distance(dense_of(c), expected_c) <= bound);
      CHECK(relative_distance(dense_of(ds::from_cauchy_like(ds::to_cauchy_like(c).view())),
                              expected_c) <= bound);

      const auto back = ds::undiagonalise_left(ds::undiagonalise_right(c, b), a);
      CHECK(relative_distance(back.g, widened(x.g)) <= bound);
      CHECK(relative_distance(back.h, widened(x.h)) <= bound);
      CHECK(relative_distance(dense_of(back), dense) <= bound);
    }
  }
}

TEST_CASE("a vandermonde matrix becomes cauchy-like by one transform") {
  // diag(x) C - C diag(z) = (x^n - 1) (conj(U) e_{n-1})^T: the barycentric formula.
  using T = std::complex<double>;
  Random random(2);
  const index_t n = 8;
  const auto x = random_nodes<T>(5, random);
  const auto v = ds::from_vandermonde(Vandermonde<T>(View<const T, 1>(x), n).view(), T(1));
  const auto c = ds::to_cauchy_like(ds::diagonalise_right(v));
  for (index_t i = 0; i < 5; ++i) {
    for (index_t k = 0; k < n; ++k) {
      const T root = std::polar(1.0, 2 * std::acos(-1.0) * double(k) / double(n));
      // sum_j x^j conj(z^j) / sqrt n = (x^n - 1) / (x conj(z) - 1) / sqrt n
      const T expected = (std::pow(x[i], 8.0) - 1.0) * root / (x[i] - root) / std::sqrt(8.0);
      CHECK(std::abs(c.g(0, i, 0) * c.h(0, k, 0) / (c.s(0, i) - c.t(0, k)) - expected) <= 1e-13);
    }
  }
}

TEMPLATE_TEST_CASE("reversals exchange toeplitz-like and hankel-like", "", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(3);
  const auto x = random_generators(ds::toeplitz<T>(), 6, 6, 3, random);
  const auto dense = dense_of(x);
  const auto h = ds::reverse_columns(x);
  CHECK(h.displacement == ds::hankel<T>());
  CHECK(relative_distance(dense_of(h), to_array(dense.view().reversed(1))) <= 100 * epsilon<T>);
  const auto up = ds::reverse_rows(x);
  CHECK(up.displacement.left == ds::shift_transposed<T>(1));
  CHECK(relative_distance(dense_of(up), to_array(dense.view().reversed(0))) <= 100 * epsilon<T>);
  const auto back = ds::reverse_rows(ds::reverse_columns(ds::reverse_rows(h)));
  CHECK(back.displacement == ds::toeplitz<T>());
  CHECK(same_bits(back.g, x.g));
  CHECK(same_bits(back.h, x.h));
  const auto c = random_generators(ds::cauchy<T>({1, 2, 3}, {4, 5}), 3, 2, 1, random);
  CHECK(relative_distance(dense_of(ds::reverse_rows(ds::reverse_columns(c))),
                          to_array(dense_of(c).view().reversed(0).reversed(1))) <= 10 * epsilon<T>);
}

TEMPLATE_TEST_CASE("corners change at the price of one term each", "", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(4);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {6, 6}, {5, 8}}) {
    for (const bool left : {true, false}) {
      for (const bool right : {true, false}) {
        const auto shift = [](bool down, T f) {
          return down ? ds::shift<T>(f) : ds::shift_transposed<T>(f);
        };
        const auto x = random_generators<T>({ds::Kind::sylvester, shift(left, 1), shift(right, 0)},
                                            m, n, 2, random);
        const auto y = ds::with_corners(x, T(0), T(2));
        CHECK(y.order() == 4);
        CHECK(y.displacement.left == shift(left, 0));
        CHECK(relative_distance(dense_of(y), dense_of(x)) <= 2000 * double(epsilon<T>));
        CHECK(ds::with_corners(x, T(1), T(0)).order() == 2);
        CHECK(ds::with_corners(x, T(1), T(-2)).order() == 3);
      }
    }
  }
}

TEMPLATE_TEST_CASE("stein and sylvester forms of one matrix", "", double, std::complex<float>) {
  using T = TestType;
  Random random(5);
  const index_t m = 5, n = 7;
  for (const ds::Displacement<T>& d :
       {ds::Displacement<T>{ds::Kind::stein, ds::shift<T>(1), ds::shift_transposed<T>(0)},
        ds::Displacement<T>{ds::Kind::stein, ds::shift<T>(0), ds::shift_transposed<T>(2)},
        ds::Displacement<T>{ds::Kind::stein, ds::diagonal(random_nodes<T>(m, random, 3)),
                            ds::diagonal(random_nodes<T>(n, random, 3))}}) {
    const auto x = random_generators(d, m, n, 2, random);
    const auto y = ds::to_sylvester(x);
    CHECK(y.order() == 2);
    const auto dense = dense_of(y);
    const auto both = ds::terms<T>(d, dense);
    CHECK(distance(ds::displace(d, dense), image(x)) <=
          500 * double(epsilon<T>) * (norm_of(both.first) + norm_of(both.second)));
    if (ds::invertible(y.displacement.left)) {
      const auto back = ds::to_stein(y);
      CHECK(relative_distance(dense_of(back), dense) <= 500 * double(epsilon<T>));
    } else {
      CHECK_THROWS_AS(ds::to_stein(y), DomainError);
    }
    CHECK(ds::to_sylvester(y).order() == 2);
  }
  // Both corners 0, the classical form of Toeplitz matrices: one term more.
  Toeplitz<T> t = random_toeplitz<T>(m, n, random);
  const ds::Displacement<T> classical{ds::Kind::stein, ds::shift<T>(0), ds::shift_transposed<T>(0)};
  ds::Generators<T> x{classical, Array<T, 2>({m, 2}), Array<T, 2>({n, 2})};
  x.g(0, 0) = T(1);
  for (index_t j = 0; j < n; ++j) x.h(j, 0) = t.lags(0, n - 1 - j);
  for (index_t i = 1; i < m; ++i) x.g(i, 1) = t.lags(0, n - 1 + i);
  x.h(0, 1) = T(1);
  CHECK(ds::to_sylvester(x).order() == 3);
  CHECK(relative_distance(dense_of(x), dense_of(t)) <= 100 * double(epsilon<T>));
}

TEST_CASE("conversions refuse what they cannot take") {
  using T = std::complex<double>;
  Random random(6);
  const auto x = random_generators(ds::toeplitz<T>(), 4, 4, 1, random);
  const auto v = ds::diagonalise_left(x);
  CHECK(message_from<DomainError>([&] { ds::diagonalise_left(v); }) ==
        "displacement::diagonalise_left: the operator is a diagonal already");
  CHECK(message_from<DomainError>(
            [&] { ds::diagonalise_right(ds::from_vandermonde(Vandermonde<T>(2, 3).view())); }) ==
        "displacement::diagonalise_right: the shift with corner 0 has no basis of eigenvectors");
  CHECK(message_from<DomainError>([&] {
          ds::undiagonalise_left(v, ds::shift<T>(-1));
        }).rfind("displacement::undiagonalise_left: number 0 of the diagonal") == 0);
  CHECK_THROWS_AS(ds::undiagonalise_left(x, ds::shift<T>(1)), DomainError);
  CHECK_THROWS_AS(ds::with_corners(v, T(1), T(0)), DomainError);
  auto stein = x;
  stein.displacement.kind = ds::Kind::stein;
  CHECK_THROWS_AS(ds::diagonalise_left(stein), DomainError);
}
