// Solvers of Toeplitz, Cauchy-like and Cauchy matrices in O(n^2), with LU of the dense matrix beside them.

#include <benchmark/benchmark.h>

#include <cmath>

#include "structmat/cauchy/solve.hpp"
#include "structmat/toeplitz/solve.hpp"

namespace {

using namespace structmat;
using toeplitz::SolveMethod;

/// Numbers without a pattern.
template <Scalar T>
T number(index_t i) {
  const double x = std::sin(double(i * i % 1000003) + 0.5);
  if constexpr (is_complex_v<T>) {
    return {static_cast<real_t<T>>(x), static_cast<real_t<T>>(std::cos(3.0 * double(i)))};
  } else {
    return static_cast<T>(x);
  }
}

template <class T, int Rank>
void fill(Array<T, Rank>& a) {
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = number<T>(i);
}

/// A Toeplitz system, indefinite, from lags to the refined solution.
template <Scalar T, SolveMethod method>
void toeplitz_solve(benchmark::State& state) {
  const index_t n = state.range(0);
  Toeplitz<T> m(n, n);
  fill(m.lags);
  Array<T, 1> b({n}), x({n});
  fill(b);
  toeplitz::SolveReport report;
  for (auto _ : state) {
    report = solve(exec::cpu{1}, m, b, x, {.method = method});
    benchmark::DoNotOptimize(x.data());
  }
  state.counters["backward_eps"] = report.backward_error / double(epsilon<T>);
  state.counters["refinements"] = report.refinements;
}

/// Interlacing nodes: on the real line, or on the unit circle.
template <class M>
M with_nodes(M m) {
  using T = typename M::value_type;
  const index_t n = m.rows();
  for (index_t i = 0; i < n; ++i) {
    if constexpr (is_complex_v<T>) {
      const double step = 2 * M_PI / double(n);
      m.s(0, i) = T(std::polar(1.0, step * double(i)));
      m.t(0, i) = T(std::polar(1.0, step * (double(i) + 0.5)));
    } else {
      m.s(0, i) = static_cast<T>(i);
      m.t(0, i) = static_cast<T>(double(i) + 0.5);
    }
  }
  return m;
}

template <Scalar T>
CauchyLike<T> cauchy_like(index_t n) {
  CauchyLike<T> m(n, n, 2);
  fill(m.g);
  fill(m.h);
  return with_nodes(std::move(m));
}

template <Scalar T>
void factor(benchmark::State& state) {
  const auto m = cauchy_like<T>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(cauchy::factor_lu(exec::cpu{1}, m.view()));
}

/// Arguments: n, right-hand sides, storage.
template <Scalar T>
void solve_again(benchmark::State& state) {
  const index_t n = state.range(0), k = state.range(1);
  const auto storage = state.range(2) == 0 ? cauchy::Storage::compact : cauchy::Storage::full;
  const auto f = cauchy::factor_lu(exec::cpu{1}, cauchy_like<T>(n).view(), {storage});
  Array<T, 3> b({1, n, k}), x({1, n, k});
  fill(b);
  for (auto _ : state) {
    cauchy::solve<T>(exec::cpu{1}, f, Op::none, std::as_const(b).view(), x.view());
    benchmark::DoNotOptimize(x.data());
  }
}

template <Scalar T>
void cauchy_solve(benchmark::State& state) {
  const index_t n = state.range(0);
  const auto m = with_nodes(Cauchy<T>(n, n));
  Array<T, 1> b({n}), x({n});
  fill(b);
  for (auto _ : state) {
    solve(exec::cpu{1}, m, b, x);
    benchmark::DoNotOptimize(x.data());
  }
}

void crossover(benchmark::internal::Benchmark* b) {
  for (const int n : {64, 96, 128, 192, 256, 512, 1024, 2048, 4096}) b->Arg(n);
  b->ArgName("n")->Unit(benchmark::kMillisecond)->UseRealTime();
}
void large(benchmark::internal::Benchmark* b) {
  for (const int n : {256, 1024, 4096, 8192}) b->Arg(n);
  b->ArgName("n")->Unit(benchmark::kMillisecond)->UseRealTime();
}
void again(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "rhs", "stored"})->ArgsProduct({{2048}, {1, 16, 64}, {0, 1}});
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}

using Complex = std::complex<double>;
BENCHMARK_TEMPLATE(toeplitz_solve, double, SolveMethod::lu)->Apply(crossover);
BENCHMARK_TEMPLATE(toeplitz_solve, double, SolveMethod::dense)->Apply(crossover);
BENCHMARK_TEMPLATE(toeplitz_solve, Complex, SolveMethod::lu)->Apply(crossover);
BENCHMARK_TEMPLATE(toeplitz_solve, Complex, SolveMethod::dense)->Apply(crossover);
BENCHMARK_TEMPLATE(toeplitz_solve, float, SolveMethod::lu)->Apply(crossover);
BENCHMARK_TEMPLATE(toeplitz_solve, float, SolveMethod::dense)->Apply(crossover);
BENCHMARK_TEMPLATE(factor, double)->Apply(large);
BENCHMARK_TEMPLATE(factor, Complex)->Apply(large);
BENCHMARK_TEMPLATE(solve_again, double)->Apply(again);
BENCHMARK_TEMPLATE(solve_again, Complex)->Apply(again);
BENCHMARK_TEMPLATE(cauchy_solve, double)->Apply(large);
BENCHMARK_TEMPLATE(cauchy_solve, Complex)->Apply(large);

}  // namespace

BENCHMARK_MAIN();
