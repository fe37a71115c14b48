// The randomised check of an order.

#include <benchmark/benchmark.h>

#include "report/problems.hpp"
#include "structmat/verify/randomised.hpp"

namespace {

using namespace structmat;
using namespace structmat::bench;

/// Arguments: n, order.
void randomised(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const Array<double, 2> m = random_dense(n, r, 1);
  const verify::RandomisedOptions options{.order = {r, r}};
  verify::RandomisedReport report;
  for (auto _ : state) {
    report = verify::randomised(m, options);
    benchmark::DoNotOptimize(report);
  }
  using benchmark::Counter;
  state.counters["holds"] = report.verdict == verify::Verdict::holds;
  state.counters["detectable"] = report.detectable;
  // The products alone.
  state.counters["flops/s"] =
      Counter(4.0 * static_cast<double>(n * n * report.probes), Counter::kIsIterationInvariantRate);
}

BENCHMARK(randomised)
    ->ArgNames({"n", "order"})
    ->Args({2000, 8})
    ->Args({2000, 64})
    ->Args({8000, 64})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
