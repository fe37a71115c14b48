// Hermitian positive definite Toeplitz systems. The peer is peers/toeplitz_solve.py (Levinson of scipy).

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "structmat/toeplitz/hermitian_solve.hpp"
#include "structmat/toeplitz/hermitian_vjp.hpp"
#include "structmat/toeplitz/iterative.hpp"
#include "structmat/toeplitz/log_likelihood.hpp"

namespace {

using namespace structmat;
using toeplitz::HermitianInverse;
using toeplitz::HermitianMethod;

/// The covariance of two damped oscillations and noise, which peers/toeplitz_solve.py solves too.
Array<double, 2> covariance(index_t n) {
  Array<double, 2> column({1, n});
  for (index_t l = 0; l < n; ++l) {
    const double t = double(l);
    column(0, l) = std::exp(-t / 100) * std::cos(0.05 * t) + 0.5 * std::exp(-t / 10);
  }
  column(0, 0) += 0.1;
  return column;
}

std::vector<double> right_hand_side(index_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] = std::sin(double(i));
  return b;
}

/// Arguments: n, method (HermitianMethod). The inverse, the determinant with it.
void factor(benchmark::State& state) {
  const auto column = covariance(state.range(0));
  const toeplitz::HermitianOptions options{static_cast<HermitianMethod>(state.range(1))};
  for (auto _ : state) {
    const HermitianInverse<double> inverse(column, options);
    benchmark::DoNotOptimize(inverse.log_determinant().log_abs);
  }
}

/// Arguments: n, base of the divide and conquer.
void factor_by_base(benchmark::State& state) {
  const auto column = covariance(state.range(0));
  const toeplitz::HermitianOptions options{HermitianMethod::superfast, state.range(1)};
  for (auto _ : state) {
    const HermitianInverse<double> inverse(column, options);
    benchmark::DoNotOptimize(inverse.log_determinant().log_abs);
  }
}

/// Arguments: n. Inverse, determinant and one solution: what SuperGauss and scipy are compared with.
void factor_and_solve(benchmark::State& state) {
  const index_t n = state.range(0);
  const auto column = covariance(n);
  const std::vector<double> b = right_hand_side(n);
  std::vector<double> x(b.size());
  for (auto _ : state) {
    const HermitianInverse<double> inverse(column);
    inverse.apply(b, x);
    benchmark::DoNotOptimize(inverse.log_determinant().log_abs);
    benchmark::DoNotOptimize(x.data());
  }
  const HermitianInverse<double> inverse(column);
  const auto report = toeplitz::solve_hermitian<double>(
      exec::cpu{}, inverse, as_batch(View<const double, 1>(b)), as_batch(View<double, 1>(x)), 0);
  state.counters["backward_eps"] = report.backward_error / epsilon<double>;
}

/// Arguments: n, right-hand sides. With an inverse that is there.
void solve_again(benchmark::State& state) {
  const index_t n = state.range(0), k = state.range(1);
  const HermitianInverse<double> inverse(covariance(n));
  Array<double, 2> b({n, k}), x({n, k});
  for (index_t i = 0; i < b.size(); ++i) b.data()[i] = std::sin(double(i));
  for (auto _ : state) {
    inverse.apply(b, x);
    benchmark::DoNotOptimize(x.data());
  }
}

/// Arguments: n. The gradient of the log-determinant with an inverse that is there.
void log_determinant_gradient(benchmark::State& state) {
  const index_t n = state.range(0);
  const HermitianInverse<double> inverse(covariance(n));
  std::vector<double> bar(static_cast<std::size_t>(n));
  for (auto _ : state) {
    toeplitz::log_determinant_vjp<double>(inverse, 0, 1, bar);
    benchmark::DoNotOptimize(bar.data());
  }
}

/// Arguments: n. Log-likelihood and its gradient from the lags.
void likelihood_and_gradient(benchmark::State& state) {
  const index_t n = state.range(0);
  const auto column = covariance(n);
  const std::vector<double> y = right_hand_side(n), one{1.0};
  Array<double, 2> bar({1, n}), y_bar({1, n});
  std::vector<double> value(1);
  for (auto _ : state) {
    toeplitz::log_likelihood_vjp<double>(
        exec::cpu{}, column, View<const double, 2>(y.data(), {1, n}), value, one, bar, y_bar);
    benchmark::DoNotOptimize(bar.data());
  }
}

/// Arguments: n, preconditioner. To a residual of 1e-10.
void conjugate_gradients(benchmark::State& state) {
  const index_t n = state.range(0);
  const auto column = covariance(n);
  const auto m = toeplitz::hermitian(column.view());
  const std::vector<double> b = right_hand_side(n);
  std::vector<double> x(b.size());
  toeplitz::IterativeReport report;
  for (auto _ : state) {
    report = toeplitz::conjugate_gradients<double>(
        exec::cpu{}, m.view(), as_batch(View<const double, 1>(b)), as_batch(View<double, 1>(x)),
        {.preconditioner = static_cast<toeplitz::Preconditioner>(state.range(1))});
    benchmark::DoNotOptimize(x.data());
  }
  state.counters["steps"] = double(report.iterations);
  state.counters["residual"] = report.residual;
}

const std::vector<std::int64_t> sizes{1024, 4096, 16384, 65536, 262144};

BENCHMARK(factor)
    ->ArgNames({"n", "method"})
    ->ArgsProduct({{256, 512, 1024, 2048, 4096}, {1, 2, 3}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(factor_by_base)
    ->ArgNames({"n", "base"})
    ->ArgsProduct({{65536}, {32, 64, 128, 256}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(factor_and_solve)
    ->ArgName("n")
    ->ArgsProduct({sizes})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(solve_again)
    ->ArgNames({"n", "rhs"})
    ->ArgsProduct({sizes, {1, 16}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(log_determinant_gradient)
    ->ArgName("n")
    ->ArgsProduct({sizes})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(likelihood_and_gradient)
    ->ArgName("n")
    ->ArgsProduct({sizes})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(conjugate_gradients)
    ->ArgNames({"n", "preconditioner"})
    ->ArgsProduct({{65536}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
