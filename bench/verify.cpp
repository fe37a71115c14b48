// Rank profiles of dense matrices.

#include <benchmark/benchmark.h>

#include "report/problems.hpp"

namespace {

using namespace structmat;
using namespace structmat::bench;

/// Arguments: n, order.
void rank_profile(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const Array<double, 2> m = random_dense(n, r, 1);
  for (auto _ : state) benchmark::DoNotOptimize(verify::quasiseparable(m));
  using benchmark::Counter;
  state.counters["bytes/s"] = Counter(8.0 * static_cast<double>(n * n),
                                      Counter::kIsIterationInvariantRate, Counter::kIs1024);
  // Of the sweep alone: a QR factorisation and a product of rows x 2 r matrices for each block of r
  // columns and triangle.
  state.counters["flops/s"] =
      Counter(12.0 * static_cast<double>(n * n * r), Counter::kIsIterationInvariantRate);
}

BENCHMARK(rank_profile)
    ->ArgNames({"n", "order"})
    ->ArgsProduct({{1000, 2000}, {8, 32, 64}})
    ->Args({4000, 32})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
