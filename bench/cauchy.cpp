// Cauchy products pair by pair, and on a line: plan, product, both; the crossover between them.
// The plane: cauchy_plane.cpp.

#include <benchmark/benchmark.h>

#include <complex>
#include <random>

#include "structmat/cauchy/apply_vjp.hpp"
#include "structmat/cauchy/plan.hpp"

namespace {

using namespace structmat;
using cauchy::Method;

template <class T, int Rank>
void fill(Array<T, Rank>& a, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (T& v : a) {
    const auto re = static_cast<real_t<T>>(uniform(engine));
    if constexpr (is_complex_v<T>) {
      v = T(re, static_cast<real_t<T>>(uniform(engine)));
    } else {
      v = re;
    }
  }
}

template <Scalar T>
Cauchy<T> random_nodes(index_t n) {
  Cauchy<T> c(n, n);
  fill(c.s, 1);
  fill(c.t, 2);
  return c;
}

template <Scalar T>
CauchyLike<T> random_generators(index_t n, index_t r) {
  CauchyLike<T> c(n, n, r);
  fill(c.s, 1);
  fill(c.t, 2);
  fill(c.g, 3);
  fill(c.h, 4);
  return c;
}

template <class M>
void time_product(benchmark::State& state, const M& m, index_t k) {
  using T = typename M::value_type;
  Array<T, 2> x({m.cols(), k}), y({m.rows(), k});
  fill(x, 5);
  const exec::cpu e{static_cast<int>(state.range(2))};
  for (auto _ : state) {
    apply(e, m, x, y);
    benchmark::ClobberMemory();
  }
  state.counters["pairs/s"] =
      benchmark::Counter(static_cast<double>(m.rows()) * static_cast<double>(m.cols()),
                         benchmark::Counter::kIsIterationInvariantRate);
}

/// Arguments: n, right-hand sides, threads.
template <Scalar T>
void direct(benchmark::State& state) {
  time_product(state, random_nodes<T>(state.range(0)), state.range(1));
}

template <Scalar T>
void direct_like(benchmark::State& state) {
  time_product(state, random_generators<T>(state.range(0), 2), state.range(1));
}

template <Scalar T>
void direct_vjp(benchmark::State& state) {
  const index_t n = state.range(0), k = state.range(1);
  const auto m = random_generators<T>(n, 2);
  CauchyLike<T> bar(n, n, 2);
  Array<T, 3> x({1, n, k}), y_bar({1, n, k}), x_bar({1, n, k});
  fill(x, 5);
  fill(y_bar, 6);
  for (auto _ : state) {
    apply_vjp(exec::cpu{static_cast<int>(state.range(2))}, m.view(), Op::none,
              View<const T, 3>(x.view()), View<const T, 3>(y_bar.view()),
              CauchyLikeCotangent<T>(bar), x_bar.view());
  }
}

/// Arguments: n, right-hand sides, threads.
void line_product(benchmark::State& state) {
  const auto c = random_nodes<double>(state.range(0));
  time_product(state, CauchyPlan<double>(c.view(), {1e-12, Method::line}), state.range(1));
}

void line_plan(benchmark::State& state) {
  const auto c = random_nodes<double>(state.range(0));
  const exec::cpu e{static_cast<int>(state.range(2))};
  for (auto _ : state) {
    benchmark::DoNotOptimize(CauchyPlan<double>(c.view(), {1e-12, Method::line}, e));
  }
}

void line_plan_and_product(benchmark::State& state) {
  const auto c = random_nodes<double>(state.range(0));
  const exec::cpu e{static_cast<int>(state.range(2))};
  Array<double, 2> x({c.cols(), 1}), y({c.rows(), 1});
  fill(x, 5);
  for (auto _ : state) {
    const CauchyPlan<double> plan(c.view(), {1e-12, Method::line}, e);
    apply(e, plan, x, y);
    benchmark::ClobberMemory();
  }
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "rhs", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
}
void direct_sizes(benchmark::internal::Benchmark* b) {
  sizes(b);
  for (const index_t k : {1, 4}) b->Args({4096, k, 1});
}
void crossover(benchmark::internal::Benchmark* b) {
  sizes(b);
  for (const index_t n : {256, 512, 1024, 2048}) b->Args({n, 1, 1});
}
void line_sizes(benchmark::internal::Benchmark* b) {
  sizes(b);
  for (const index_t threads : {1, 2}) {
    for (const index_t n : {10000, 100000, 1000000}) b->Args({n, 1, threads});
  }
}

BENCHMARK_TEMPLATE(direct, float)->Apply(direct_sizes);
BENCHMARK_TEMPLATE(direct, double)->Apply(direct_sizes)->Apply(crossover);
BENCHMARK_TEMPLATE(direct, std::complex<float>)->Apply(direct_sizes);
BENCHMARK_TEMPLATE(direct, std::complex<double>)->Apply(direct_sizes);
BENCHMARK_TEMPLATE(direct_like, double)->Apply(direct_sizes);
BENCHMARK_TEMPLATE(direct_like, std::complex<double>)->Apply(direct_sizes);
BENCHMARK_TEMPLATE(direct_vjp, double)->Apply(direct_sizes);
BENCHMARK(line_product)->Apply(crossover)->Apply(line_sizes)->Args({100000, 4, 1});
BENCHMARK(line_plan)->Apply(crossover)->Apply(line_sizes);
BENCHMARK(line_plan_and_product)->Apply(line_sizes);

}  // namespace

BENCHMARK_MAIN();
