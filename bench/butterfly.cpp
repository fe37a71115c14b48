// Products of butterfly, Monarch and low-rank matrices beside the dense ones.

#include <benchmark/benchmark.h>

#include "report/problems.hpp"
#include "structmat/butterfly/apply.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/lowrank/apply.hpp"

namespace {

using namespace structmat;
using namespace structmat::bench;

template <class M>
void product(benchmark::State& state, const M& m, index_t k, double flops) {
  const Array<double, 2> x = random_block(m.cols(), k, 2);
  Array<double, 2> y({m.rows(), k});
  const exec::cpu e{1};
  for (auto _ : state) {
    apply(e, m, x, y);
    benchmark::ClobberMemory();
  }
  state.counters["flops/s"] = benchmark::Counter(flops * static_cast<double>(k),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  state.counters["numbers"] = static_cast<double>(m.stored());
}

/// Arguments, here and below: n, right-hand sides.
void butterfly_matrix(benchmark::State& state) {
  Random random(1);
  Butterfly<double> m(state.range(0), state.range(0));
  random.fill(m.factors);
  product(state, m, state.range(1), 1.5 * static_cast<double>(m.stored()));
}

/// n = b^2.
void monarch_matrix(benchmark::State& state) {
  Random random(1);
  index_t b = 1;
  while (b * b < state.range(0)) ++b;
  Monarch<double> m({b, b, b}, {b, b, b});
  random.fill(m.w1);
  random.fill(m.w2);
  product(state, m, state.range(1), 2.0 * static_cast<double>(m.stored()));
}

/// Order 16.
void low_rank_matrix(benchmark::State& state) {
  Random random(1);
  LowRank<double> m(state.range(0), state.range(0), 16);
  random.fill(m.u);
  random.fill(m.v);
  product(state, m, state.range(1), 2.0 * static_cast<double>(m.stored()));
}

void dense_matrix(benchmark::State& state) {
  const index_t n = state.range(0), k = state.range(1);
  const Array<double, 2> a = random_block(n, n, 1), x = random_block(n, k, 2);
  Array<double, 2> y({n, k});
  for (auto _ : state) {
    if (k == 1) {
      dense::gemv<double>(Op::none, 1, a, x.view().select(1, 0), 0, y.view().select(1, 0));
    } else {
      dense::gemm<double>(Op::none, Op::none, 1, a, x, 0, y);
    }
    benchmark::ClobberMemory();
  }
  state.counters["flops/s"] = benchmark::Counter(2.0 * static_cast<double>(n * n * k),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  state.counters["numbers"] = static_cast<double>(n * n);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "rhs"})->ArgsProduct({{64, 256, 1024, 4096}, {1, 64}});
}
BENCHMARK(butterfly_matrix)->Apply(sizes);
BENCHMARK(monarch_matrix)->Apply(sizes);
BENCHMARK(low_rank_matrix)->Apply(sizes);
BENCHMARK(dense_matrix)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
