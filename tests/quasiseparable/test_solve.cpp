#include "structmat/quasiseparable/solve.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/from_kernel.hpp"
#include "support/adversaries.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

namespace {

using namespace structmat;
using namespace structmat::test;
using quasiseparable::Method;

/// The largest backward error of the columns of x, in Frobenius norms, against the dense matrix.
template <class M, class T>
double backward_error(const M& m, Op op, const Array<T, 3>& b, const Array<T, 3>& x) {
  double worst = 0;
  for (index_t batch = 0; batch < b.extent(0); ++batch) {
    const auto dense = wide_dense(m, m.batch() == 1 ? 0 : batch);
    for (index_t c = 0; c < b.extent(2); ++c) {
      double residual = 0, x_norm = 0, b_norm = 0;
      for (index_t i = 0; i < m.rows(); ++i) {
        Wide<T> sum = Wide<T>(b(batch, i, c));
        for (index_t j = 0; j < m.rows(); ++j) {
          const Wide<T> v = op == Op::none ? dense(i, j) : dense(j, i);
          sum -= (op == Op::adjoint ? conjugate(v) : v) * Wide<T>(x(batch, j, c));
        }
        residual = std::hypot(residual, std::abs(sum));
        x_norm = std::hypot(x_norm, std::abs(x(batch, i, c)));
        b_norm = std::hypot(b_norm, std::abs(b(batch, i, c)));
      }
      if (residual > 0) worst = std::max(worst, residual / (norm_of(dense) * x_norm + b_norm));
    }
  }
  return worst;
}

TEST_CASE("a thousand random matrices and fifty adversaries are solved to 100 eps") {
  Random random(17);
  double worst = 0;
  const auto solve_one = [&](const Quasiseparable<double, transition::Block>& m) {
    const auto b = random.array<double, 3>({1, m.size(), 1});
    auto x = poisoned<double, 3>(b.extents());
    // The factorisation alone must do: no refinement.
    const auto report = solve(exec::cpu{}, m, Op::none, b.view(), x.view(), {.refinements = 0});
    REQUIRE(report.status.usable());
    const double error = backward_error(m, Op::none, b, x);
    CHECK(error <= 100 * epsilon<double>);
    // The residual itself is computed in working precision.
    CHECK(report.backward_error >= 0.9 * error - epsilon<double>);
    worst = std::max(worst, error);
  };
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const index_t n = 2 + index_t(seed) % 37;
    const Order order{index_t(seed) % 4, index_t(seed / 4) % 4};
    INFO("seed " << seed);
    solve_one(quasiseparable::to_block(
        random_quasiseparable<double, transition::Dense>(n, order, 1, seed),
        1 + index_t(seed) % 9));
  }
  index_t count = 0;
  for (const index_t n : {2, 3, 4, 9, 16, 33, 64, 100}) {
    for (const auto& dense : adversaries(n)) {
      INFO("adversary " << count << " of size " << n);
      solve_one(
          quasiseparable::from_dense(dense, {.tolerance = 0.0, .block_size = 1 + n % 7}).matrix);
      ++count;
    }
  }
  CHECK(count >= 50);
  CHECK(worst <= 100 * epsilon<double>);
}

TEMPLATE_TEST_CASE("both methods, all operations, batches and right-hand sides", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 17, 50}) {
    auto m = random_quasiseparable<T, transition::Diagonal>(n, {2, 3}, 2, 5);
    for (T& d : m.d) d += T(4);  // leading minors far from 0
    for (const Method method : {Method::qr, Method::lu}) {
      for (const Op op : all_ops) {
        INFO("n " << n << ", method " << int(method) << ", op " << int(op));
        const auto b = random.array<T, 3>({2, n, 3});
        auto x = poisoned<T, 3>({2, n, 3});
        const auto report = solve(exec::cpu{}, m.view(), op, b.view(), x.view(),
                                  {.method = method, .condition = true});
        REQUIRE(report.status.ok());
        CHECK(report.method == method);
        CHECK(backward_error(m, op, b, x) <= 10 * double(epsilon<T>));
        // One matrix and many right-hand sides; one right-hand side and many matrices.
        const auto shared = random.array<T, 3>({1, n, 2});
        auto y = poisoned<T, 3>({2, n, 2});
        CHECK(solve(exec::cpu{}, m.view(), op, shared.view(), y.view(), {.method = method})
                  .status.ok());
        Array<T, 3> repeated({2, n, 2});
        for (const index_t batch : {0, 1}) {
          copy(shared.view().select(0, 0), repeated.view().select(0, batch));
        }
        CHECK(backward_error(m, op, repeated, y) <= 10 * double(epsilon<T>));
      }
    }
  }
}

TEST_CASE("lu gives way to qr where minors vanish or factors grow, and says so") {
  const index_t n = 40;
  Random random(5);
  const auto b = random.array<double, 3>({1, n, 1});
  Array<double, 3> x({1, n, 1});
  const auto exchange = quasiseparable::from_dense(
      matrix<double>(n, n, [](index_t i, index_t j) { return j == (i ^ 1) ? 1.0 : 0.0; }),
      {.block_size = 1});
  const auto broken =
      solve(exec::cpu{}, exchange.matrix, Op::none, b.view(), x.view(), {.method = Method::lu});
  CHECK(broken.method == Method::qr);
  CHECK(broken.status.ok());
  CHECK(quasiseparable::factor_lu(exchange.matrix).status() ==
        PivotStatus{PivotStatus::Kind::zero, 0, 0, 0});

  auto nearly = exchange.matrix;
  for (index_t k = 0; k < n; ++k) nearly.diagonal.block(0, k)(0, 0) = 1e-9;
  const auto grown =
      solve(exec::cpu{}, nearly, Op::none, b.view(), x.view(), {.method = Method::lu});
  CHECK(grown.method == Method::qr);
  CHECK(grown.growth > 1e8);
  CHECK(backward_error(nearly, Op::none, b, x) <= 10 * epsilon<double>);
  const auto forced = solve(exec::cpu{}, nearly, Op::none, b.view(), x.view(),
                            {.method = Method::lu, .growth_limit = INFINITY, .refinements = 0});
  CHECK(forced.method == Method::lu);
  CHECK(forced.backward_error > 1e-10);
  CHECK(forced.backward_error < 1e3 * forced.growth * epsilon<double>);
  const auto refined = solve(exec::cpu{}, nearly, Op::none, b.view(), x.view(),
                             {.method = Method::lu, .growth_limit = INFINITY, .refinements = 5});
  CHECK(refined.refinements > 0);
  CHECK(refined.backward_error < 100 * epsilon<double>);
}

TEST_CASE("the condition estimate is a lower bound, and near") {
  for (const index_t n : {1, 5, 30}) {
    const auto m = quasiseparable::to_block(
        random_quasiseparable<std::complex<double>, transition::Diagonal>(n, {2, 2}, 2, 8), 4);
    const auto qr = quasiseparable::factor_qr(m);
    const auto inverse = quasiseparable::inverse(qr);
    for (const index_t batch : {0, 1}) {
      const auto one_norm = [&](const auto& matrix_) {
        const auto dense = wide_dense(matrix_, batch);
        double largest = 0;
        for (index_t j = 0; j < n; ++j) {
          double sum = 0;
          for (index_t i = 0; i < n; ++i) sum += std::abs(dense(i, j));
          largest = std::max(largest, sum);
        }
        return largest;
      };
      const double expected = one_norm(m) * one_norm(inverse);
      const double got = quasiseparable::condition_estimate(m, qr, batch);
      CHECK(got <= expected * (1 + 1e-10));
      CHECK(got >= expected / 10);
      CHECK(quasiseparable::condition_estimate(m, quasiseparable::factor_lu(m), batch) ==
            Approx(got).epsilon(1e-6));
    }
    CHECK_THROWS_AS(quasiseparable::condition_estimate(m, qr, 2), ShapeError);
  }
}

TEST_CASE("members solve, and throw where the report would have to be read") {
  const auto m = random_quasiseparable<double, transition::Diagonal>(30, {2, 1}, 1, 8);
  Random random(1);
  const auto b = random.array<double, 2>({30, 3});
  const Array<double, 2> x = m.solve(b), back = m * x;
  for (index_t i = 0; i < b.size(); ++i) {
    CHECK(back.data()[i] == Approx(b.data()[i]).margin(1e-10));
  }
  const Quasiseparable<double, transition::Scalar> zero(3, {1, 1});
  CHECK(message_from<DomainError>([&] { (void)zero.solve(Array<double, 1>({3})); }) ==
        "solve: pivot 0 of batch entry 0 is 0, the matrix is singular there");
  CHECK_THROWS_AS((void)m.solve(Array<double, 1>({29})), ShapeError);
  auto bad = m;
  bad.d(0, 7) = INFINITY;
  Array<double, 3> y = poisoned<double, 3>({1, 30, 1});
  const Array<double, 3> zeros({1, 30, 1});
  const auto report = solve(exec::cpu{}, bad.view(), Op::none, zeros.view(), y.view());
  CHECK(report.status.kind == PivotStatus::Kind::not_finite);
  for (const double v : y) CHECK(std::isnan(v));
}

TEST_CASE("a long covariance matrix is solved in O(n) memory") {
  const index_t n = 100000;
  std::vector<double> times(n);
  for (index_t i = 0; i < n; ++i) times[i] = double(i) + 0.3 * std::sin(double(i));
  const auto m = quasiseparable::from_kernel(times, quasiseparable::Kernel::matern32(10), 0.01);
  Random random(1);
  const auto b = random.array<double, 1>({n});
  Array<double, 1> x({n});
  for (const Method method : {Method::qr, Method::lu}) {
    const auto report = solve(exec::cpu{}, m, b, x, {.method = method});
    CHECK(report.method == method);
    CHECK(report.status.ok());
    CHECK(report.backward_error <= 4 * epsilon<double>);
  }
}

}  // namespace
