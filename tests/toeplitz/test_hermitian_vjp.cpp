#include "structmat/toeplitz/hermitian_vjp.hpp"

#include <catch2/catch.hpp>
#include <numbers>

#include "structmat/core/error.hpp"
#include "structmat/toeplitz/log_likelihood.hpp"
#include "support/battery.hpp"
#include "support/gradient.hpp"
#include "support/positive_toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;
using toeplitz::HermitianInverse;
using toeplitz::HermitianMethod;
using toeplitz::HermitianOptions;

namespace {

const HermitianOptions split{HermitianMethod::superfast, 2};

/// dL = Re <c_bar, dc> for c_l, l > 0, and for the real part of c_0.
template <Scalar T, class Loss>
void check_column_gradient(Array<T, 2>& column, const Array<T, 2>& bar, const Loss& loss) {
  const double h = 1e-5;
  for (index_t b = 0; b < column.extent(0); ++b) {
    for (index_t l = 0; l < column.extent(1); ++l) {
      for (const bool imaginary : {false, true}) {
        if (imaginary && (!is_complex_v<T> || l == 0)) continue;
        T step = T(h);
        if constexpr (is_complex_v<T>) {
          if (imaginary) step = T(0, h);
        }
        const T kept = column(b, l);
        column(b, l) = kept + step;
        const double above = loss();
        column(b, l) = kept - step;
        const double below = loss();
        column(b, l) = kept;
        const double expected = imaginary ? std::imag(bar(b, l)) : std::real(bar(b, l));
        INFO("lag " << l << " of " << b << (imaginary ? ", imaginary" : ""));
        CHECK(std::abs((above - below) / (2 * h) - expected) <= 1e-7 * (1 + std::abs(expected)));
      }
    }
    if (column.extent(1) > 0) CHECK(std::imag(bar(b, 0)) == 0);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("gradients of solutions against central differences", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 8, 13}) {
    auto column = random_covariances<T>(n, 2, 3);
    auto b = random.array<T, 3>({2, n, 2});
    const auto x_bar = random.array<T, 3>({2, n, 2});
    const auto loss = [&] {
      const HermitianInverse<T> inverse(column.view(), split);
      return inner(x_bar, inverse * b);
    };
    const HermitianInverse<T> inverse(column.view(), split);
    const Array<T, 3> x = inverse * b;
    Array<T, 2> column_bar({2, n});
    Array<T, 3> b_bar({2, n, 2});
    solve_vjp<T>(exec::cpu{}, inverse, x.view(), x_bar.view(), column_bar.view(), b_bar.view());
    check_column_gradient(column, column_bar, loss);
    check_gradient("b", b, b_bar, loss);

    // Added to; sums over the batch.
    Array<T, 2> sum({1, n});
    Array<T, 3> b_sum({1, n, 2});
    for (T& v : sum) v = T(1);
    solve_vjp<T>(exec::cpu{}, inverse, x.view(), x_bar.view(), sum.view(), b_sum.view());
    for (index_t i = 0; i < n; ++i) {
      CHECK(std::abs(sum(0, i) - (T(1) + column_bar(0, i) + column_bar(1, i))) < 1e-12);
      CHECK(std::abs(b_sum(0, i, 1) - (b_bar(0, i, 1) + b_bar(1, i, 1))) < 1e-12);
    }
    solve_vjp<T>(exec::cpu{}, inverse, x.view(), x_bar.view(), {}, {});
  }
}

TEMPLATE_TEST_CASE("gradients of log-determinants", "", double, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 8, 30}) {
    auto column = random_covariances<T>(n, 1, 3);
    const HermitianInverse<T> inverse(column.view(), split);
    Array<T, 2> bar({1, n});
    log_determinant_vjp(inverse, 0, -1.5, bar.view().select(0, 0));
    check_column_gradient(column, bar, [&] {
      return -1.5 * HermitianInverse<T>(column.view(), split).log_determinant().log_abs;
    });
    // tr(T^-1 dT) by the definition.
    Random random(2);
    auto change = random.array<T, 1>({n});
    change(0) = std::real(change(0));
    const auto d = hermitian_dense<T>(change.view());
    const auto exact =
        DenseCholesky<T>(hermitian_dense<T>(std::as_const(column).view().select(0, 0))).inverse();
    T trace{};
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) trace += exact(i, j) * d(j, i);
    }
    double slope = 0;
    for (index_t l = 0; l < n; ++l) slope += std::real(conjugate(bar(0, l)) * change(l));
    CHECK(std::abs(slope + 1.5 * std::real(trace)) <= 1e-11 * (1 + std::abs(trace)));
    // Sums along the diagonals of the inverse.
    const auto sums = inverse.diagonal_sums();
    for (index_t l = 0; l < n; ++l) {
      T sum{};
      for (index_t i = 0; i + l < n; ++i) sum += exact(i + l, i);
      CHECK(std::abs(sums(l) - sum) <= 1e-12 * norm_of(exact) * double(n));
    }
  }
}

TEMPLATE_TEST_CASE("the Gaussian log-likelihood and its gradient", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(4);
  for (const index_t n : {0, 1, 2, 9, 20}) {
    auto column = random_covariances<T>(n, 2, 3);
    auto y = random.array<T, 2>({2, n});
    const std::vector<double> weights{0.7, -1.3};
    std::vector<double> value(2);
    const auto loss = [&] {
      std::vector<double> v(2);
      const auto status =
          toeplitz::log_likelihood<T>(exec::cpu{}, column.view(), y.view(), v, split);
      CHECK(status.ok());
      return weights[0] * v[0] + weights[1] * v[1];
    };
    Array<T, 2> column_bar({2, n}), y_bar({2, n});
    CHECK(toeplitz::log_likelihood_vjp<T>(exec::cpu{}, column.view(), y.view(), value, weights,
                                          column_bar.view(), y_bar.view(), split)
              .ok());
    check_column_gradient(column, column_bar, loss);
    check_gradient("y", y, y_bar, loss, 1e-7);
    for (index_t b = 0; b < 2; ++b) {
      const DenseCholesky<T> oracle(hermitian_dense<T>(std::as_const(column).view().select(0, b)));
      Array<T, 2> rhs({n, 1});
      for (index_t i = 0; i < n; ++i) rhs(i, 0) = y(b, i);
      const auto alpha = oracle.solve(rhs);
      double square = 0;
      for (index_t i = 0; i < n; ++i) square += std::real(conjugate(y(b, i)) * alpha(i, 0));
      const double exact =
          -0.5 * (square + oracle.log_determinant() + double(n) * std::log(2 * std::numbers::pi));
      CHECK(std::abs(value[std::size_t(b)] - exact) <= 1e-11 * (1 + std::abs(exact)));
    }
  }
}

TEST_CASE("log-likelihood of what is not positive definite; broadcasting") {
  Array<double, 2> column({3, 2}), y({1, 2});
  column(0, 0) = 1;
  column(1, 0) = 1;
  column(1, 1) = 2;
  column(2, 0) = NAN;
  y(0, 0) = 1;
  std::vector<double> value(3);
  const std::vector<double> ones(3, 1.0);
  Array<double, 2> column_bar({3, 2}), y_bar({1, 2});
  const auto status = toeplitz::log_likelihood_vjp<double>(
      exec::cpu{}, column.view(), y.view(), value, ones, column_bar.view(), y_bar.view());
  CHECK(status.kind == PivotStatus::Kind::not_positive);
  CHECK(status.batch == 1);
  CHECK(value[0] == Approx(-0.5 - std::log(2 * std::numbers::pi)));
  CHECK(value[1] == -INFINITY);
  CHECK(std::isnan(value[2]));
  // Only the first entry has a gradient.
  CHECK(y_bar(0, 0) == Approx(-1));
  CHECK(column_bar(0, 0) == Approx(-0.5));
  for (const index_t b : {1, 2}) CHECK(column_bar(b, 0) == 0);

  const auto one = toeplitz::log_likelihood<double>(std::as_const(column).view().select(0, 0),
                                                    std::as_const(y).view().select(0, 0));
  CHECK(one.status.ok());
  CHECK(one.value == Approx(value[0]));
  CHECK_THROWS_AS(toeplitz::log_likelihood<double>(exec::cpu{}, column.view(), y.view(),
                                                   View<double, 1>(value).slice(0, 0, 2)),
                  ShapeError);
}
