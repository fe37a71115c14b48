#include "structmat/verify/displacement_rank.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/blas.hpp"
#include "structmat/dense/norm.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
namespace ds = structmat::displacement;

namespace {

/// Entries that decay from the diagonal, to which a number is added: 2 makes it dominant.
template <class T>
Array<T, 2> random_toeplitz(index_t m, index_t n, unsigned seed, double diagonal = 0) {
  Random random(seed);
  const auto c = random.array<T, 1>({m + n});
  Array<T, 2> t({m, n});
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const auto distance = real_t<T>(1 + std::abs(i - j));
      t(i, j) = c(i - j + n) / (distance * distance) + (i == j ? T(diagonal) : T{});
    }
  }
  return t;
}

template <class T>
Array<T, 2> multiply(const Array<T, 2>& a, const Array<T, 2>& b) {
  Array<T, 2> c({a.extent(0), b.extent(1)});
  dense::gemm<T>(Op::none, Op::none, T{1}, a, b, T{0}, c);
  return c;
}

/// Gauss-Jordan elimination; for diagonally dominant matrices.
template <class T>
Array<T, 2> inverse(Array<T, 2> a) {
  const index_t n = a.extent(0);
  Array<T, 2> b({n, n});
  for (index_t i = 0; i < n; ++i) b(i, i) = 1;
  for (index_t p = 0; p < n; ++p) {
    const T pivot = a(p, p);
    for (index_t j = 0; j < n; ++j) {
      a(p, j) /= pivot;
      b(p, j) /= pivot;
    }
    for (index_t i = 0; i < n; ++i) {
      const T factor = a(i, p);
      if (i == p) continue;
      for (index_t j = 0; j < n; ++j) {
        a(i, j) -= factor * a(p, j);
        b(i, j) -= factor * b(p, j);
      }
    }
  }
  return b;
}

}  // namespace

TEMPLATE_TEST_CASE("known displacement ranks", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const double tolerance = 100 * double(epsilon<T>);
  const auto rank = [&](const Array<T, 2>& a, const ds::Displacement<T>& d) {
    const auto report = verify::displacement_rank(a, d, {.tolerance = tolerance});
    CHECK(report.property == "displacement rank");
    CHECK(report.largest_dropped <= tolerance / 4);
    return report.rank;
  };
  const auto toeplitz = ds::toeplitz<T>();
  for (const index_t n : {5, 40, 101}) {
    INFO("n " << n);
    const auto t1 = random_toeplitz<T>(n, n, 1, 2), t2 = random_toeplitz<T>(n, n, 2, 2);
    CHECK(rank(t1, toeplitz) == 2);
    CHECK(rank(random_toeplitz<T>(n, n + 3, 3), toeplitz) == 2);
    CHECK(rank(multiply(t1, t2), toeplitz) == 4);
    CHECK(rank(inverse(t1), toeplitz) == 2);
    auto sum = t1;
    for (index_t i = 0; i < sum.size(); ++i) sum.data()[i] += t2.data()[i];
    CHECK(rank(sum, toeplitz) == 2);
    // A Hankel matrix: the columns of a Toeplitz matrix in the opposite order.
    CHECK(rank(to_array(t1.view().reversed(1)), ds::hankel<T>()) == 2);

    std::vector<T> x, s, y;
    Array<T, 2> v({n, n - 1}), c({n, n});
    for (index_t i = 0; i < n; ++i) {
      x.push_back(T(std::cos(double(i) + 0.5)));
      s.push_back(T(double(i) / double(n)));
      y.push_back(T(-1 - double(i) / double(n)));
    }
    for (index_t i = 0; i < n; ++i) {
      T power = 1;
      for (index_t j = 0; j < n - 1; ++j, power *= x[i]) v(i, j) = power;
      for (index_t j = 0; j < n; ++j) c(i, j) = T(1) / (s[i] - y[j]);
    }
    CHECK(rank(v, ds::vandermonde<T>(x, 0.5)) == 1);
    CHECK(rank(c, ds::cauchy<T>(s, y)) == 1);
    CHECK(verify::displacement_rank(v, toeplitz).rank > 2);
  }
}

TEST_CASE("Stein displacement of a Toeplitz matrix: X - Z_0 X Z_0^T has rank 2") {
  const auto t = random_toeplitz<double>(30, 30, 4);
  const ds::Displacement<double> stein{ds::Kind::stein, ds::shift<double>(0),
                                       ds::shift_transposed<double>(0)};
  CHECK(verify::displacement_rank(t, stein).rank == 2);
}

TEST_CASE("one entry that differs raises the displacement rank") {
  auto t = random_toeplitz<double>(60, 60, 5);
  CHECK(verify::displacement_rank(t, ds::toeplitz<double>(), {.order = 2}).holds);
  t(30, 20) += 1e-6;
  const auto broken = verify::displacement_rank(t, ds::toeplitz<double>(), {.order = 2});
  CHECK_FALSE(broken.holds);
  CHECK(broken.rank > 2);
  CHECK(
      verify::displacement_rank(t, ds::toeplitz<double>(), {.order = 2, .tolerance = 1e-6}).holds);
}

TEST_CASE("rounding of the matrix does not count as rank") {
  // A constant matrix plus rounding: its displacement is noise beside it in all but two directions.
  Random random(6);
  Array<double, 2> t({50, 50});
  for (double& v : t) v = 1 + 1e-16 * random.real();
  const auto report = verify::displacement_rank(t, ds::toeplitz<double>());
  CHECK(report.rank <= 2);
  CHECK(report.reference == Approx(100));
}

TEST_CASE("empty matrices and what is refused") {
  CHECK(verify::displacement_rank(Array<double, 2>({0, 0}), ds::toeplitz<double>()).rank == 0);
  CHECK(verify::displacement_rank(Array<double, 2>({1, 1}), ds::toeplitz<double>()).rank == 0);
  Array<double, 2> a({2, 2});
  CHECK_THROWS_AS(verify::displacement_rank(a, ds::vandermonde<double>({1, 2, 3})), ShapeError);
  a(1, 0) = NAN;
  CHECK(message_from<DomainError>([&] { verify::displacement_rank(a, ds::toeplitz<double>()); }) ==
        "verify::displacement_rank: entry (1, 0) is nan, only finite input has an answer");
}
