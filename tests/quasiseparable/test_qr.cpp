#include "structmat/quasiseparable/qr.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/compress.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "support/adversaries.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

namespace {

using namespace structmat;
using namespace structmat::test;
using quasiseparable::factor_qr;
using quasiseparable::to_block;

/// ||b - op(M) x|| / (||M|| ||x|| + ||b||), Frobenius norms, one batch entry and column.
template <class M, class T>
double backward_error(const M& m, Op op, index_t batch, const View<const T, 1>& b,
                      const View<const T, 1>& x) {
  const auto dense = wide_dense(m, m.batch() == 1 ? 0 : batch);
  double residual = 0, x_norm = 0, b_norm = 0;
  for (index_t i = 0; i < m.rows(); ++i) {
    Wide<T> sum = Wide<T>(b(i));
    for (index_t j = 0; j < m.rows(); ++j) {
      const Wide<T> v = op == Op::none ? dense(i, j) : dense(j, i);
      sum -= (op == Op::adjoint ? conjugate(v) : v) * Wide<T>(x(j));
    }
    residual = std::hypot(residual, std::abs(sum));
    x_norm = std::hypot(x_norm, std::abs(x(i)));
    b_norm = std::hypot(b_norm, std::abs(b(i)));
  }
  return residual == 0 ? 0 : residual / (norm_of(dense) * x_norm + b_norm);
}

TEMPLATE_TEST_CASE("any regular matrix is solved with a small backward error", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {1, 2, 3, 16, 17, 50}) {
    for (const Order order : {Order{2, 3}, Order{0, 2}, Order{3, 0}, Order{0, 0}, Order{20, 1}}) {
      for (const index_t size : {1, 4, 16}) {
        const auto m =
            to_block(random_quasiseparable<T, transition::Dense>(n, order, 2, unsigned(n)), size);
        const auto f = factor_qr(m);
        INFO("n " << n << ", orders " << order.lower << " " << order.upper << ", blocks of " << size
                  << ": " << describe(f.status()));
        REQUIRE(f.status().usable());
        const auto b = random.array<T, 3>({2, n, 3});
        for (const Op op : all_ops) {
          INFO("op " << int(op));
          auto x = poisoned<T, 3>({2, n, 3});
          solve(exec::cpu{}, f, op, b.view(), x.view());
          for (const index_t entry : {0, 1}) {
            for (const index_t column : {0, 2}) {
              CHECK(backward_error<decltype(m), T>(
                        m, op, entry, b.view().select(0, entry).select(1, column),
                        std::as_const(x).view().select(0, entry).select(1, column)) <=
                    20 * double(epsilon<T>));
            }
          }
        }
      }
    }
  }
}

/// Gaussian elimination with partial pivoting.
template <class W>
std::pair<double, W> dense_log_determinant(Array<W, 2> a) {
  double log_abs = 0;
  W sign{1};
  for (index_t k = 0; k < a.extent(0); ++k) {
    index_t best = k;
    for (index_t i = k; i < a.extent(0); ++i) {
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    }
    if (best != k) {
      sign = -sign;
      for (index_t j = 0; j < a.extent(0); ++j) std::swap(a(k, j), a(best, j));
    }
    log_abs += std::log(std::abs(a(k, k)));
    sign *= a(k, k) / std::abs(a(k, k));
    for (index_t i = k + 1; i < a.extent(0); ++i) {
      const W factor = a(i, k) / a(k, k);
      for (index_t j = k; j < a.extent(0); ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return {log_abs, sign};
}

TEMPLATE_TEST_CASE("determinants and inverses are those of the dense matrix", "", double,
                   std::complex<double>) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 5, 12, 31}) {
    for (const Order order : {Order{2, 3}, Order{0, 2}, Order{3, 0}}) {
      for (const index_t size : {1, 3, 8}) {
        INFO("n " << n << ", orders " << order.lower << " " << order.upper << ", blocks of "
                  << size);
        auto uniform =
            random_quasiseparable<T, transition::Diagonal>(n, order, 2, unsigned(n + size));
        for (T& d : uniform.d) d += d / std::abs(d);  // away from singular matrices
        const auto m = to_block(uniform, size);
        const auto f = factor_qr(m);
        REQUIRE(f.status().ok());
        const auto inverse = quasiseparable::inverse(f);
        CHECK(inverse.order().lower <= order.lower);
        CHECK(inverse.order().upper <= order.upper);
        for (index_t b = 0; b < 2; ++b) {
          const auto dense = wide_dense(m, b), dense_inverse = wide_dense(inverse, b);
          const auto [log_abs, sign] = dense_log_determinant(dense);
          const auto got = log_determinant(f, b);
          CHECK(got.log_abs == Approx(log_abs).epsilon(1e-10).margin(1e-10));
          CHECK(std::abs(got.sign - sign) < 1e-10);
          const auto product = dense_product(dense_inverse, dense);
          double error = 0;
          for (index_t i = 0; i < n; ++i) {
            for (index_t j = 0; j < n; ++j) {
              error = std::max(error, std::abs(product(i, j) - (i == j ? 1.0 : 0.0)));
            }
          }
          CHECK(error <= 1e-13 * (1 + norm_of(dense) * norm_of(dense_inverse)));
        }
      }
    }
  }
}

TEST_CASE("vanishing leading minors do no harm") {
  Random random(9);
  for (const index_t n : {2, 4, 8, 25, 64}) {
    int which = 0;
    for (const auto& dense : adversaries(n)) {
      for (const index_t size : {1, 5, 16}) {
        INFO("n " << n << ", matrix " << which << ", blocks of " << size);
        const auto m = quasiseparable::from_dense(dense, {.block_size = size}).matrix;
        const auto f = factor_qr(m);
        REQUIRE(f.status().usable());
        const auto b = random.array<double, 1>({n});
        Array<double, 1> x({n});
        solve(exec::cpu{}, f, b, x);
        CHECK(backward_error<decltype(m), double>(m, Op::none, 0, b, x) <= 100 * epsilon<double>);
      }
      ++which;
    }
  }
}

TEST_CASE("pairwise exchanges of 100000 rows, order 1, every other minor zero") {
  const index_t n = 100000;
  Quasiseparable<double, transition::Scalar> m(n, {1, 1});
  for (index_t i = 0; i < n; i += 2) {
    m.q(0, i, 0) = m.p(0, i + 1, 0) = m.g(0, i, 0) = m.h(0, i + 1, 0) = 1;
  }
  const auto f = factor_qr(m);
  REQUIRE(f.status().ok());
  Random random(1);
  const auto b = random.array<double, 1>({n});
  Array<double, 1> x({n});
  solve(exec::cpu{}, f, b, x);
  double error = 0;
  for (index_t i = 0; i < n; ++i)
    error = std::max(error, std::abs(x(i) - b(i % 2 == 0 ? i + 1 : i - 1)));
  CHECK(error <= 1e-14);
  const auto determinant = log_determinant(f);
  CHECK(determinant.log_abs == Approx(0).margin(1e-10));
  CHECK(determinant.sign == (n / 2 % 2 == 0 ? 1.0 : -1.0));
}

TEST_CASE("the second difference matrix and its inverse of order 1") {
  const auto dense = matrix<double>(4, 4, [](index_t i, index_t j) {
    return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  const auto f = factor_qr(quasiseparable::from_dense(dense).matrix);
  CHECK(std::exp(log_determinant(f).log_abs) == Approx(5));
  const auto inverse = quasiseparable::inverse(f).to_dense();
  const double expected[4][4] = {{4, 3, 2, 1}, {3, 6, 4, 2}, {2, 4, 6, 3}, {1, 2, 3, 4}};
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 4; ++j) CHECK(inverse(0, i, j) == Approx(expected[i][j] / 5));
  }
}

TEST_CASE("singular and non-finite matrices are reported with their place") {
  const auto ones = matrix<double>(6, 6, [](index_t, index_t) { return 1.0; });
  const auto f = factor_qr(quasiseparable::from_dense(ones, {.block_size = 2}).matrix);
  CHECK(!f.status().ok());
  CHECK(f.status().index >= 1);
  CHECK(f.status().pivot <= 1e-15);

  auto m = random_quasiseparable<double, transition::Diagonal>(40, {2, 2}, 3, 3);
  const auto zero = factor_qr(quasiseparable::from_dense(Array<double, 2>({3, 3})).matrix);
  CHECK(zero.status() == PivotStatus{PivotStatus::Kind::zero, 0, 0, 0});
  Array<double, 1> x({3});
  CHECK(message_from<DomainError>([&] { solve(exec::cpu{}, zero, x, x); }) ==
        "quasiseparable::solve: pivot 0 of batch entry 0 is 0, the matrix is singular there");
  CHECK_THROWS_AS(quasiseparable::inverse(zero), DomainError);
  CHECK(log_determinant(zero).sign == 0);
  CHECK(log_determinant(zero).log_abs == -INFINITY);
  m.d(1, 20) = NAN;
  const auto bad = factor_qr(m).status();
  CHECK(bad.kind == PivotStatus::Kind::not_finite);
  CHECK(bad.batch == 1);
  CHECK(bad.index == 16);
  CHECK_THROWS_AS(log_determinant(factor_qr(m), 1), DomainError);
  CHECK_THROWS_AS(log_determinant(f, 1), ShapeError);
}

TEST_CASE("solve takes strided operands, works in place, and refuses what does not fit") {
  const index_t n = 21;
  const auto m = random_quasiseparable<std::complex<double>, transition::Diagonal>(n, {2, 1}, 1, 3);
  const auto f = factor_qr(m);
  Random random(2);
  const auto b = random.array<std::complex<double>, 2>({n, 2});
  Array<std::complex<double>, 2> x({n, 2}), wide({2 * n, 4});
  solve(exec::cpu{}, f, b, x);
  const View<std::complex<double>, 2> strided(wide.data(), {n, 2}, {8, 2});
  copy(b.view().reversed(0), strided.reversed(0).reversed(0));
  solve(exec::cpu{}, f, strided.reversed(0), strided.reversed(0));
  for (index_t i = 0; i < n; ++i) CHECK(strided(n - 1 - i, 1) == x(i, 1));
  CHECK(message_from<ShapeError>([&] {
          Array<std::complex<double>, 1> y({n + 1});
          solve(exec::cpu{}, f, y, y);
        }) == "quasiseparable::solve: x has 22 rows, the operator has 21 columns");
}

}  // namespace
