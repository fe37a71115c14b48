// Vandermonde matrices: direct products, exponential sums, nonuniform Fourier transforms, plans for
// nodes anywhere, and solutions.

#include <benchmark/benchmark.h>

#include <numbers>

#include "report/problems.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "structmat/vandermonde/exponential_sum.hpp"
#include "structmat/vandermonde/nonuniform_fft.hpp"
#include "structmat/vandermonde/plan.hpp"
#include "structmat/vandermonde/solve.hpp"

namespace {

using namespace structmat;
using C = std::complex<double>;

Array<C, 1> random_column(index_t n) {
  bench::Random random(1);
  Array<C, 1> a({n});
  for (C& v : a) v = {random(), random()};
  return a;
}

/// n nodes exp(r + i t), r n uniform in [-spread, spread].
Vandermonde<C> random_nodes(index_t n, double spread) {
  bench::Random random(2);
  Vandermonde<C> v(n, n);
  for (C& x : v.x) {
    x = std::polar(std::exp(spread / static_cast<double>(n) * random()),
                   std::numbers::pi * random());
  }
  return v;
}

template <class M>
void time_product(benchmark::State& state, const M& m, bool adjoint = false) {
  const auto x = random_column(adjoint ? m.rows() : m.cols());
  Array<C, 1> y({adjoint ? m.cols() : m.rows()});
  for (auto _ : state) {
    if (adjoint) {
      apply_adjoint(exec::cpu{1}, m, x, y);
    } else {
      apply(exec::cpu{1}, m, x, y);
    }
    benchmark::ClobberMemory();
  }
}

void direct(benchmark::State& state) {
  time_product(state, random_nodes(state.range(0), 1));
}

LogVandermonde<C> random_exponentials(index_t lags, index_t poles) {
  LogVandermonde<C> e(lags, poles);
  for (index_t k = 0; k < poles; ++k) {
    e.a(0, k) = {-1e-4 * static_cast<double>(k + 1), 0.04 * static_cast<double>(k)};
  }
  return e;
}

/// Arguments: lags, poles.
void exponential_sum(benchmark::State& state) {
  time_product(state, random_exponentials(state.range(0), state.range(1)));
}
void exponential_sum_real(benchmark::State& state) {
  const auto e = random_exponentials(state.range(0), state.range(1));
  const auto c = random_column(e.cols());
  Array<double, 1> y({e.rows()});
  for (auto _ : state) {
    real_exponential_sum(exec::cpu{1}, e, c, y);
    benchmark::ClobberMemory();
  }
}

/// Arguments: modes and points, minus log10 of the tolerance, 1 for the adjoint.
void nonuniform_fft(benchmark::State& state) {
  bench::Random random(3);
  std::vector<double> angles(state.range(0));
  for (double& t : angles) t = std::numbers::pi * random();
  const double tolerance = std::pow(10.0, -static_cast<double>(state.range(1)));
  time_product(state, NonuniformFft<C>(angles, state.range(0), {tolerance}), state.range(2) == 1);
}

/// Arguments: n, the spread of n log|x|, the method. The plan is not timed.
void plan(benchmark::State& state) {
  const auto v = random_nodes(state.range(0), static_cast<double>(state.range(1)));
  time_product(state,
               VandermondePlan<C>(v, {1e-12, static_cast<vandermonde::Method>(state.range(2))}));
}

void solve_system(benchmark::State& state) {
  const index_t n = state.range(0);
  Vandermonde<C> v(n, n);
  for (index_t i = 0; i < n; ++i) {
    v.x(0, i) =
        std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  }
  const auto b = random_column(n);
  Array<C, 1> x({n});
  for (auto _ : state) benchmark::DoNotOptimize(solve(exec::cpu{1}, v, b, x));
}

BENCHMARK(direct)->Arg(1024)->Arg(4096);
BENCHMARK(exponential_sum)->Args({65536, 64})->Args({1000000, 64});
BENCHMARK(exponential_sum_real)->Args({65536, 64});
BENCHMARK(nonuniform_fft)->Args({65536, 12, 0})->Args({65536, 12, 1})->Args({65536, 6, 0});
BENCHMARK(plan)
    ->ArgsProduct({{65536},
                   {0, 1, 5, 30},
                   {static_cast<index_t>(vandermonde::Method::nonuniform_fft),
                    static_cast<index_t>(vandermonde::Method::barycentric)}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(solve_system)->Arg(64)->Arg(1024);

}  // namespace

BENCHMARK_MAIN();
