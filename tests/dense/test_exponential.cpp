// The matrix exponential against its series and identities, and the small solver it uses.
#include "structmat/dense/exponential.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"
#include "structmat/dense/solve.hpp"
#include "support/random.hpp"

using namespace structmat;

namespace {

using Complex = std::complex<double>;

template <Scalar T>
Array<T, 2> exponential_of(const Array<T, 2>& a) {
  Array<T, 2> e(a.extents());
  dense::exponential<T>(a, e);
  return e;
}

/// The series of exp(A / 2^s), squared s times, in long double.
template <Scalar T>
Array<Complex, 2> series(const Array<T, 2>& a, int squarings) {
  using Wide = std::complex<long double>;
  const index_t n = a.extent(0);
  using Matrix = std::vector<Wide>;
  const auto product = [n](const Matrix& x, const Matrix& y) {
    Matrix z(n * n);
    for (index_t i = 0; i < n; ++i) {
      for (index_t k = 0; k < n; ++k) {
        for (index_t j = 0; j < n; ++j) z[i * n + j] += x[i * n + k] * y[k * n + j];
      }
    }
    return z;
  };
  Matrix x(n * n), term(n * n);
  for (index_t i = 0; i < n * n; ++i) {
    x[i] = Wide(Complex(a.data()[i])) / std::ldexp(1.0L, squarings);
  }
  for (index_t i = 0; i < n; ++i) term[i * n + i] = 1;
  Matrix sum = term;
  for (int k = 1; k < 60; ++k) {
    term = product(term, x);
    for (index_t i = 0; i < n * n; ++i) sum[i] += term[i] /= static_cast<long double>(k);
  }
  for (int s = 0; s < squarings; ++s) sum = product(sum, sum);
  Array<Complex, 2> result({n, n});
  for (index_t i = 0; i < n * n; ++i) result.data()[i] = Complex(sum[i]);
  return result;
}

template <class A, class B>
double distance(const A& a, const B& b) {
  double difference = 0, size = 0;
  for (index_t i = 0; i < b.size(); ++i) {
    difference =
        std::max(difference, double(std::abs(Complex(a.data()[i]) - Complex(b.data()[i]))));
    size = std::max(size, double(std::abs(b.data()[i])));
  }
  return size == 0 ? difference : difference / size;
}

}  // namespace

TEMPLATE_TEST_CASE("exp is its series", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  test::Random random(1);
  for (const index_t n : {1, 2, 3, 7, 12}) {
    for (const double scale : {1e-8, 0.1, 1.0, 6.0}) {
      Array<T, 2> a({n, n});
      random.fill(a, scale / std::sqrt(double(n)));
      // Conditioning grows with the norm.
      const double bound = 100 * double(n) * (1 + scale) * double(epsilon<T>);
      CHECK(distance(exponential_of(a), series(a, 8)) <= bound);
    }
  }
}

TEST_CASE("identities of the exponential") {
  test::Random random(2);
  for (const index_t n : {1, 4, 9}) {
    const auto zero = exponential_of(Array<double, 2>({n, n}));
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) CHECK(zero(i, j) == (i == j ? 1 : 0));
    }
    // det exp(A) = exp(tr A) through exp(A) exp(-A) = I; exp(diag) = diag(exp).
    auto a = random.array<Complex, 2>({n, n});
    auto minus = a;
    for (Complex& v : minus) v = -v;
    const auto e = exponential_of(a), inverse = exponential_of(minus);
    double worst = 0;
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        Complex sum = i == j ? -1 : 0;
        for (index_t k = 0; k < n; ++k) sum += e(i, k) * inverse(k, j);
        worst = std::max(worst, std::abs(sum));
      }
    }
    CHECK(worst <= 1e-12);
    Array<double, 2> diagonal({n, n});
    for (index_t i = 0; i < n; ++i) diagonal(i, i) = 3 - 4 * double(i);
    const auto d = exponential_of(diagonal);
    for (index_t i = 0; i < n; ++i) {
      CHECK(d(i, i) == Approx(std::exp(diagonal(i, i))).epsilon(1e-12));
    }
  }
  // A rotation by many turns, and a nilpotent matrix whose series ends.
  const double angle = 1000;
  Array<double, 2> skew({2, 2}), nilpotent({3, 3});
  skew(0, 1) = -angle, skew(1, 0) = angle;
  const auto rotation = exponential_of(skew);
  CHECK(rotation(0, 0) == Approx(std::cos(angle)).margin(1e-12));
  CHECK(rotation(1, 0) == Approx(std::sin(angle)).margin(1e-12));
  nilpotent(0, 1) = 2, nilpotent(1, 2) = 3;
  const auto e = exponential_of(nilpotent);
  CHECK(e(0, 2) == Approx(3).epsilon(1e-15));
  CHECK(e(0, 1) == Approx(2).epsilon(1e-15));
}

TEST_CASE("strides and refusals of the exponential") {
  test::Random random(3);
  const auto a = random.array<double, 2>({3, 3});
  Array<double, 2> e({3, 3}), transposed({3, 3}), wide({3, 4});
  dense::exponential<double>(a, e);
  dense::exponential<double>(a.view().transposed(), transposed.view().transposed());
  CHECK(distance(transposed, e) <= 1e-14);
  dense::exponential<double>(Array<double, 2>(), Array<double, 2>().view());
  CHECK_THROWS_AS(dense::exponential<double>(a, wide), ShapeError);
  CHECK_THROWS_AS(dense::exponential<double>(wide, e), ShapeError);
  auto bad = a;
  bad(1, 2) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(dense::exponential<double>(bad, e), DomainError);
  // Beyond the range: infinite, not an exception.
  Array<double, 2> large({1, 1});
  large(0, 0) = 1e6;
  CHECK(std::isinf(exponential_of(large)(0, 0)));
  large(0, 0) = -1e6;
  CHECK(exponential_of(large)(0, 0) == 0);
  Array<double, 2> largest({2, 2});
  for (double& v : largest) v = -std::numeric_limits<double>::max();
  exponential_of(largest);  // ends, whatever the digits
}

TEMPLATE_TEST_CASE("small systems", "", float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  test::Random random(4);
  for (const index_t n : {0, 1, 5}) {
    for (const index_t k : {0, 1, 3}) {
      const auto a = random.array<T, 2>({n, n}), x = random.array<T, 2>({n, k});
      Array<T, 2> b({n, k});
      for (index_t i = 0; i < n; ++i) {
        for (index_t c = 0; c < k; ++c) {
          for (index_t j = 0; j < n; ++j) b(i, c) += a(i, j) * x(j, c);
        }
      }
      CHECK(dense::solve<T>(a, b).ok());
      CHECK(distance(b, x) <= 1e4 * double(epsilon<T>));
    }
  }
  Array<T, 2> singular({2, 2}), b({2, 1});
  singular(0, 0) = 1, b(0, 0) = 5;
  const PivotStatus status = dense::solve<T>(singular, b);
  CHECK(status.kind == PivotStatus::Kind::zero);
  CHECK(status.index == 1);
  CHECK(b(0, 0) == T(5));
  CHECK_THROWS_AS(dense::solve<T>(singular, Array<T, 2>({3, 1}).view()), ShapeError);
}
