#include "structmat/quasiseparable/ldl_inverse.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "support/battery.hpp"
#include "support/hermitian.hpp"

using namespace structmat;
using namespace structmat::test;
namespace qs = structmat::quasiseparable;

namespace {}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("the inverse has the order of the matrix and undoes it", "", (Case),
                           ((float, transition::Scalar), (std::complex<double>, transition::Scalar),
                            (double, transition::Diagonal),
                            (std::complex<float>, transition::Diagonal),
                            (double, transition::Dense),
                            (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 3, 41}) {
    for (const index_t r : {0, 1, 3, 8}) {
      for (const bool definite : {true, false}) {
        const index_t batch = 1 + ++seed % 2;
        auto m = random_hermitian<T, K>(n, r, batch, seed, definite);
        const auto f = qs::factor_ldl(m, {.definite = definite});
        if (n > 1 && r > 0) {  // numbers that are not part of the matrix
          m.p(0, 0, 0) = m.q(0, n - 1, 0) = m.a.data()[0] = T(NAN);
        }
        const auto inverse = qs::inverse(f);
        CHECK(inverse.order() == Order{r, r});
        Array<real_t<T>, 2> diagonal({batch, n});
        qs::inverse_diagonal(exec::cpu{}, f.view(), diagonal.view());
        const auto dense = m.to_dense(), dense_inverse = inverse.to_dense();
        const double tolerance = 16.0 * double(n + r) * double(epsilon<T>);
        for (index_t b = 0; b < batch; ++b) {
          for (index_t i = 0; i < n; ++i) {
            CHECK(dense_inverse(b, i, i) == T(diagonal(b, i)));
            for (index_t j = 0; j < n; ++j) {
              T sum{};
              for (index_t k = 0; k < n; ++k) sum += dense(b, i, k) * dense_inverse(b, k, j);
              if (std::abs(sum - T(real_t<T>(i == j))) > tolerance)
                CHECK(sum == T(real_t<T>(i == j)));
              const T above = conjugate(dense_inverse(b, j, i));
              if (std::abs(dense_inverse(b, i, j) - above) > tolerance) {
                CHECK(dense_inverse(b, i, j) == above);
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("the inverse of tridiag(-1, 2, -1)") {
  Quasiseparable<double, transition::Scalar> m(4, {1, 1});
  for (index_t i = 0; i < 4; ++i) {
    m.d(0, i) = 2;
    m.p(0, i, 0) = -1;
    m.q(0, i, 0) = 1;
  }
  const auto f = qs::factor_ldl(m);
  CHECK(std::exp(qs::log_determinant(f).log_abs) == Approx(5).epsilon(1e-14));
  const auto inverse = qs::inverse(f).to_dense();
  const double expected[4][4] = {{4, 3, 2, 1}, {3, 6, 4, 2}, {2, 4, 6, 3}, {1, 2, 3, 4}};
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      CHECK(inverse(0, i, j) == Approx(expected[i][j] / 5).epsilon(1e-14));
    }
  }
}

TEST_CASE("the inverse of an autoregression is tridiagonal, at n = 100000") {
  constexpr index_t n = 100000;
  constexpr double a = 0.75;
  Quasiseparable<double, transition::Diagonal> m(n, {1, 1});
  for (index_t i = 0; i < n; ++i) {
    m.p(0, i, 0) = m.a(0, i, 0) = a;
    m.q(0, i, 0) = m.d(0, i) = 1;
  }
  const auto inverse = qs::inverse(qs::factor_ldl(m));
  const double unit = 1 / (1 - a * a);
  for (index_t i = 1; i < n - 1; ++i) {
    if (std::abs(inverse.d(0, i) - (1 + a * a) * unit) > 1e-13 * unit) CHECK(i < 0);
  }
  for (const index_t i : {index_t{1}, n / 2, n - 2}) {
    CHECK(inverse.entry(i, i - 1) == Approx(-a * unit).epsilon(1e-13));
    CHECK(std::abs(inverse.entry(i + 1, i - 1)) <= 1e-15);
  }
  CHECK(inverse.entry(0, 0) == Approx(unit).epsilon(1e-13));
  CHECK(inverse.entry(n - 1, n - 1) == Approx(unit).epsilon(1e-13));
}
