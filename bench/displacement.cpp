// Products with matrices given by their displacement, against the dense matrix in the same run.

#include <benchmark/benchmark.h>

#include "report/problems.hpp"
#include "structmat/dense/dense.hpp"
#include "structmat/displacement/plan.hpp"

namespace {

using namespace structmat;
using namespace structmat::bench;
namespace ds = structmat::displacement;

template <Scalar T>
Array<T, 2> random_numbers(index_t m, index_t n, unsigned seed) {
  const Array<double, 2> numbers = random_block(m, n, seed);
  Array<T, 2> a({m, n});
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = T(real_t<T>(numbers.data()[i]));
  return a;
}

template <Scalar T>
ds::Generators<T> toeplitz_like(index_t n, index_t r) {
  return {ds::toeplitz<T>(), random_numbers<T>(n, r, 1), random_numbers<T>(n, r, 2)};
}

/// Arguments: n, order, right-hand sides. Flops: 5 n log2 n a complex transform.
template <Scalar T>
void apply_toeplitz_like(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1), k = state.range(2);
  const ds::Plan<T> plan(toeplitz_like<T>(n, r));
  const auto x = random_numbers<T>(n, k, 3);
  Array<T, 2> y({n, k});
  for (auto _ : state) {
    apply(exec::cpu{1}, plan, x, y);
    benchmark::ClobberMemory();
  }
  const double transforms = is_complex_v<T> ? 2.0 * double(r) + 2 : 2.0 * double((r + 1) / 2) + 2;
  state.counters["flops/s"] =
      benchmark::Counter(double(k) * transforms * 5 * double(n) * std::log2(double(n)),
                         benchmark::Counter::kIsIterationInvariantRate);
}

/// Arguments: n, right-hand sides.
template <Scalar T>
void apply_dense(benchmark::State& state) {
  const index_t n = state.range(0), k = state.range(1);
  const Dense<T> a(random_numbers<T>(n, n, 1));
  const auto x = random_numbers<T>(n, k, 3);
  Array<T, 2> y({n, k});
  for (auto _ : state) {
    a.apply(x, y);
    benchmark::ClobberMemory();
  }
}

/// Arguments: n, order.
void make_plan(benchmark::State& state) {
  const auto x = toeplitz_like<double>(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(ds::Plan<double>(x));
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "order", "rhs"})->Unit(benchmark::kMicrosecond);
  for (const index_t n : {64, 128, 256, 512, 1024, 2048, 4096}) {
    for (const index_t r : {2, 4, 8}) b->Args({n, r, 1});
  }
  for (const index_t n : {1024, 4096}) b->Args({n, 4, 64});
  for (const index_t n : {1021, 65536, 1048576}) b->Args({n, 4, 1});
}
void dense_sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "rhs"})->Unit(benchmark::kMicrosecond);
  for (const index_t n : {64, 128, 256, 512, 1024, 2048, 4096}) b->Args({n, 1});
  for (const index_t n : {1024, 4096}) b->Args({n, 64});
}

BENCHMARK_TEMPLATE(apply_toeplitz_like, double)->Apply(sizes);
BENCHMARK_TEMPLATE(apply_toeplitz_like, std::complex<double>)->Apply(sizes);
BENCHMARK_TEMPLATE(apply_dense, double)->Apply(dense_sizes);
BENCHMARK_TEMPLATE(apply_dense, std::complex<double>)->Apply(dense_sizes);
BENCHMARK(make_plan)
    ->ArgNames({"n", "order"})
    ->ArgsProduct({{1024, 65536}, {2, 8}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
