// Rank profiles of dense matrices and of generators.

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

/// Arguments: n, order.
template <transition::Uniform K>
void generator_profile(benchmark::State& state) {
  const auto m = random_quasiseparable<K>(state.range(0), state.range(1), 1);
  for (auto _ : state) benchmark::DoNotOptimize(verify::quasiseparable(m));
  state.counters["rows/s"] = benchmark::Counter(static_cast<double>(state.range(0)),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

/// Blocks of as many rows as the order. Arguments: n, order.
void generator_profile_block(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  Random random(1);
  Quasiseparable<double, transition::Block> m;
  while (m.partition.rows() < n) {
    m.partition.offsets.push_back(std::min(n, m.partition.rows() + r));
  }
  std::vector<index_t> states(m.partition.blocks() + 1, r);
  states.front() = states.back() = 0;
  for (auto* t : {&m.lower, &m.upper_transposed}) {
    *t = BlockTriangle<double>(m.partition, states);
    random.fill(t->all_p());
    random.fill(t->all_q());
    const double contraction = 1.7 / std::sqrt(static_cast<double>(r));
    random.fill(t->all_a(), -contraction, contraction);
  }
  m.diagonal = BlockDiagonal<double>(m.partition);
  random.fill(m.diagonal.all());
  for (auto _ : state) benchmark::DoNotOptimize(verify::quasiseparable(m));
  state.counters["rows/s"] =
      benchmark::Counter(static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate);
}

void generators(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "order"})->Unit(benchmark::kMillisecond);
  for (const index_t r : {4, 16, 32}) b->Args({100000, r});
}

BENCHMARK(rank_profile)
    ->ArgNames({"n", "order"})
    ->ArgsProduct({{1000, 2000}, {8, 32, 64}})
    ->Args({4000, 32})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(generator_profile, transition::Scalar)->Apply(generators);
BENCHMARK_TEMPLATE(generator_profile, transition::Diagonal)->Apply(generators)->Args({1000000, 16});
BENCHMARK(generator_profile_block)->Apply(generators)->Args({1000000, 16});

}  // namespace

BENCHMARK_MAIN();
