// apply for the transitions, orders, right-hand sides and threads; from_dense.

#include <benchmark/benchmark.h>

#include "report/problems.hpp"

namespace {

using namespace structmat;
using namespace structmat::bench;

void rates(benchmark::State& state, double bytes, double flops) {
  using benchmark::Counter;
  state.counters["bytes/s"] = Counter(bytes, Counter::kIsIterationInvariantRate, Counter::kIs1024);
  state.counters["flops/s"] = Counter(flops, Counter::kIsIterationInvariantRate);
}

/// Arguments: n, order, right-hand sides, threads.
template <transition::Uniform K>
void apply_uniform(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1), k = state.range(2);
  const auto m = random_quasiseparable<K>(n, r, 1);
  const Array<double, 2> x = random_block(n, k, 2);
  Array<double, 2> y({n, k});
  const exec::cpu e{static_cast<int>(state.range(3))};
  for (auto _ : state) {
    apply(e, m, x, y);
    benchmark::ClobberMemory();
  }
  // A dense transition takes 2 r^2 flops a row and triangle where the others take 2 r or less.
  const double more = K::rank == 4 ? static_cast<double>(4 * n * k * r * (r - 1)) : 0;
  rates(state, apply_bytes(m.stored(), n, k), apply_flops(n, r, k) + more);
}

/// Arguments: n, order, right-hand sides.
void apply_block(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1), k = state.range(2);
  const auto m = quasiseparable::from_dense(random_dense(n, r, 1)).matrix;
  const Array<double, 2> x = random_block(n, k, 2);
  Array<double, 2> y({n, k});
  for (auto _ : state) {
    apply(exec::cpu{1}, m, x, y);
    benchmark::ClobberMemory();
  }
  rates(state, apply_bytes(m.stored(), n, k), 2.0 * static_cast<double>(m.stored() * k));
}

/// Arguments: n, order.
void from_dense(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const Array<double, 2> m = random_dense(n, r, 1);
  for (auto _ : state) benchmark::DoNotOptimize(quasiseparable::from_dense(m));
  // A QR factorisation and a product of rows x 2 r matrices for each block of r columns and
  // triangle.
  rates(state, 8.0 * static_cast<double>(n * n), 12.0 * static_cast<double>(n * n * r));
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "order", "rhs", "threads"})->UseRealTime();
  for (const index_t r : {1, 4, 8, 16, 32}) b->Args({4096, r, 1, 1});
  for (const index_t k : {4, 8, 64}) b->Args({4096, 16, k, 1});
  for (const index_t threads : {1, 2})
    b->Args({65536, 8, 1, threads})->Args({4096, 16, 64, threads});
}
void large(benchmark::internal::Benchmark* b) {
  for (const index_t threads : {1, 2}) b->Args({524288, 8, 1, threads});
}

BENCHMARK_TEMPLATE(apply_uniform, transition::Scalar)->Apply(sizes)->Apply(large);
BENCHMARK_TEMPLATE(apply_uniform, transition::Diagonal)->Apply(sizes)->Apply(large);
BENCHMARK_TEMPLATE(apply_uniform, transition::Dense)->Apply(sizes);
BENCHMARK(apply_block)->ArgNames({"n", "order", "rhs"})->ArgsProduct({{2048}, {8, 32}, {1, 64}});
BENCHMARK(from_dense)
    ->ArgNames({"n", "order"})
    ->ArgsProduct({{1000, 2000, 4000}, {8, 32}})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
