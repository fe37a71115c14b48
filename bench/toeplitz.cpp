// Toeplitz, Hankel and circulant products, with the symbol at hand and with it computed anew, against
// the dense product.

#include <benchmark/benchmark.h>

#include <random>

#include "structmat/dense/blas.hpp"
#include "structmat/toeplitz/apply_vjp.hpp"
#include "structmat/toeplitz/circulant_solve.hpp"

namespace {

using namespace structmat;

template <class T, int Rank>
Array<T, Rank> random_array(const std::array<index_t, Rank>& extents, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Array<T, Rank> a(extents);
  for (T& v : a) {
    if constexpr (is_complex_v<T>) {
      v = {normal(engine), normal(engine)};
    } else {
      v = normal(engine);
    }
  }
  return a;
}

template <Scalar T>
Toeplitz<T> random_toeplitz(index_t m, index_t n) {
  Toeplitz<T> t(m, n);
  t.lags = random_array<T, 2>(t.lags.extents(), 1);
  return t;
}

/// Arguments: rows, columns, right-hand sides.
template <Scalar T, toeplitz::Method M>
void planned(benchmark::State& state) {
  const index_t m = state.range(0), n = state.range(1), k = state.range(2);
  const ToeplitzPlan<T> plan(random_toeplitz<T>(m, n).view(), {.method = M});
  const auto x = random_array<T, 2>({n, k}, 2);
  Array<T, 2> y({m, k});
  for (auto _ : state) {
    apply(exec::cpu{1}, plan, x, y);
    benchmark::ClobberMemory();
  }
}

template <Scalar T>
void symbol_included(benchmark::State& state) {
  const index_t m = state.range(0), n = state.range(1), k = state.range(2);
  const auto t = random_toeplitz<T>(m, n);
  const auto x = random_array<T, 2>({n, k}, 2);
  Array<T, 2> y({m, k});
  for (auto _ : state) {
    apply(exec::cpu{1}, t, x, y);
    benchmark::ClobberMemory();
  }
}

template <Scalar T>
void dense_product(benchmark::State& state) {
  const index_t m = state.range(0), n = state.range(1), k = state.range(2);
  const auto entries = random_toeplitz<T>(m, n).to_dense();
  const View<const T, 2> a(entries.data(), {m, n});
  const auto x = random_array<T, 2>({n, k}, 2);
  Array<T, 2> y({m, k});
  for (auto _ : state) {
    if (k == 1) {
      dense::gemv<T>(Op::none, T{1}, a, x.view().select(1, 0), T{0}, y.view().select(1, 0));
    } else {
      dense::gemm<T>(Op::none, Op::none, T{1}, a, x, T{0}, y);
    }
    benchmark::ClobberMemory();
  }
}

/// Arguments: n, right-hand sides.
void cotangents(benchmark::State& state) {
  using T = double;
  const index_t n = state.range(0), k = state.range(1);
  const ToeplitzPlan<T> plan(random_toeplitz<T>(n, n).view());
  const auto x = random_array<T, 3>({1, n, k}, 2), y_bar = random_array<T, 3>({1, n, k}, 3);
  Array<T, 2> lags_bar({1, 2 * n - 1});
  Array<T, 3> x_bar({1, n, k});
  for (auto _ : state) {
    apply_vjp(exec::cpu{1}, plan, Op::none, x.view(), y_bar.view(), lags_bar.view(), x_bar.view());
    benchmark::ClobberMemory();
  }
}

template <Scalar T>
void circulant_solve(benchmark::State& state) {
  const index_t n = state.range(0);
  Circulant<T> c(n);
  c.column = random_array<T, 2>({1, n}, 1);
  const auto b = random_array<T, 3>({1, n, 1}, 2);
  Array<T, 3> x({1, n, 1});
  for (auto _ : state) {
    benchmark::DoNotOptimize(solve(exec::cpu{1}, c.view(), Op::none, b.view(), x.view()));
  }
}

void crossover(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "rhs"})->Unit(benchmark::kMicrosecond);
  for (const index_t n : {16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048}) {
    for (const index_t k : {1, 8}) b->Args({n, n, k});
  }
}
void large(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "rhs"})->Unit(benchmark::kMicrosecond);
  for (const index_t n : {4096, 16384, 131072, 1000000, 1000003, 1048576}) b->Args({n, n, 1});
  b->Args({16384, 16384, 64})->Args({1000000, 500, 1})->Args({500, 1000000, 1});
}

constexpr auto direct = toeplitz::Method::direct, fourier = toeplitz::Method::fourier;
BENCHMARK_TEMPLATE(planned, double, direct)->Apply(crossover);
BENCHMARK_TEMPLATE(planned, double, fourier)->Apply(crossover)->Apply(large);
BENCHMARK_TEMPLATE(symbol_included, double)->Apply(crossover)->Apply(large);
BENCHMARK_TEMPLATE(dense_product, double)->Apply(crossover);
BENCHMARK_TEMPLATE(planned, std::complex<double>, direct)->Apply(crossover);
BENCHMARK_TEMPLATE(planned, std::complex<double>, fourier)->Apply(crossover);
BENCHMARK(cotangents)->ArgNames({"n", "rhs"})->ArgsProduct({{4096, 65536}, {1, 8}});
BENCHMARK_TEMPLATE(circulant_solve, double)->Arg(1048576)->Arg(1000003);
BENCHMARK_TEMPLATE(circulant_solve, std::complex<double>)->Arg(1048576)->Arg(1000003);

}  // namespace

BENCHMARK_MAIN();
