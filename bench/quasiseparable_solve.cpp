// General solvers, products and compression of quasiseparable matrices. The peer of a solver at these
// sizes is the elimination without pivoting that other packages use (lu).

#include <benchmark/benchmark.h>

#include <cmath>

#include "report/problems.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/block_algebra.hpp"
#include "structmat/quasiseparable/compress.hpp"
#include "structmat/quasiseparable/ldl.hpp"
#include "structmat/quasiseparable/solve.hpp"

namespace {

using namespace structmat;
using namespace structmat::bench;
using quasiseparable::Method;

using Blocks = Quasiseparable<double, transition::Block>;

Array<double, 1> right_hand_side(index_t n) {
  Array<double, 1> b({n});
  for (index_t i = 0; i < n; ++i) b(i) = std::sin(double(i));
  return b;
}

/// Arguments: n, order, method (0 qr, 1 lu). From uniform generators to the solution.
void solve_once(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const auto m = random_quasiseparable(n, r, 1);
  const Array<double, 1> b = right_hand_side(n);
  Array<double, 1> x({n});
  quasiseparable::SolveReport report;
  const quasiseparable::SolveOptions options{
      .method = state.range(2) == 0 ? Method::qr : Method::lu, .growth_limit = INFINITY};
  for (auto _ : state) {
    report = solve(exec::cpu{}, m, b, x, options);
    benchmark::DoNotOptimize(x.data());
  }
  state.counters["backward_eps"] = report.backward_error / epsilon<double>;
  state.counters["growth"] = report.growth;
}

/// Arguments: n, order, right-hand sides. With factors that are there.
void solve_again(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1), k = state.range(2);
  const auto f = quasiseparable::factor_qr(random_quasiseparable(n, r, 1));
  Array<double, 2> b({n, k}), x({n, k});
  for (index_t i = 0; i < b.size(); ++i) b.data()[i] = std::sin(double(i));
  for (auto _ : state) {
    solve(exec::cpu{}, f, b, x);
    benchmark::DoNotOptimize(x.data());
  }
}

/// Arguments: n, order. Block generators with blocks of twice the order.
void inverse(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const auto m = random_quasiseparable(n, r, 1);
  for (auto _ : state) {
    const Blocks inverse = quasiseparable::inverse(quasiseparable::factor_qr(m));
    benchmark::DoNotOptimize(inverse.diagonal.all().data());
  }
}

/// Arguments: n, order, rows a block. The product of a matrix with itself, compressed.
void multiply_and_compress(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const Blocks m = quasiseparable::to_block(random_quasiseparable(n, r, 1), state.range(2));
  quasiseparable::Compressed<double> result;
  for (auto _ : state) {
    result = quasiseparable::compress(quasiseparable::multiply(m, m), {.tolerance = 1e-12});
    benchmark::DoNotOptimize(result);
  }
  state.counters["order"] = double(result.matrix.order().lower);
  state.counters["error"] = result.truncation_error / result.frobenius_norm;
}

void multiply(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const Blocks m = quasiseparable::to_block(random_quasiseparable(n, r, 1), state.range(2));
  for (auto _ : state) {
    const Blocks product = quasiseparable::multiply(m, m);
    benchmark::DoNotOptimize(product.diagonal.all().data());
  }
}

/// A definite Hermitian matrix of order r.
Quasiseparable<double> hermitian(index_t n, index_t r) {
  auto m = random_quasiseparable(n, r, 1);
  for (double& d : m.d) d = 200 * double(r);  // above the sum of a row: transitions are below 1
  return m;
}

enum class Work { factor, solve_lower, solve, semiseparable };

/// Arguments: n, order, threads, chunks. One long sequence in two phases (exec::cpu::chunks).
template <Work work>
void two_phases(benchmark::State& state) {
  const index_t n = state.range(0), r = state.range(1);
  const exec::cpu e{int(state.range(2)), int(state.range(3))};
  const auto m = hermitian(n, r);
  Semiseparable<double> s(n, r);
  s.c = m.p, s.a = m.a, s.b = m.q;
  auto f = quasiseparable::factor_ldl(m);
  if (!f.ok()) state.SkipWithError("the matrix is not definite");
  const Array<double, 1> b = right_hand_side(n);
  Array<double, 1> x({n});
  for (auto _ : state) {
    if (work == Work::factor) quasiseparable::factor_ldl(e, m.view(), {}, f.w.view(), f.d.view());
    if (work == Work::solve_lower) quasiseparable::solve_lower(e, f, b, x);
    if (work == Work::solve) quasiseparable::solve(e, f, b, x);
    if (work == Work::semiseparable) apply(e, s, b, x);
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
}

void one_and_two_threads(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "order", "threads", "chunks"});
  for (const auto& [threads, chunks] : {std::pair{1, 1}, std::pair{1, 3}, std::pair{2, 3}}) {
    b->Args({524288, 8, threads, chunks});
  }
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK_TEMPLATE(two_phases, Work::factor)->Apply(one_and_two_threads);
BENCHMARK_TEMPLATE(two_phases, Work::solve_lower)->Apply(one_and_two_threads);
BENCHMARK_TEMPLATE(two_phases, Work::solve)->Apply(one_and_two_threads);
BENCHMARK_TEMPLATE(two_phases, Work::semiseparable)->Apply(one_and_two_threads);
BENCHMARK(solve_once)
    ->ArgNames({"n", "order", "method"})
    ->ArgsProduct({{100000}, {2, 8, 32}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(solve_again)
    ->ArgNames({"n", "order", "rhs"})
    ->ArgsProduct({{100000}, {8}, {1, 16}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(inverse)
    ->ArgNames({"n", "order"})
    ->Args({100000, 8})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(multiply)
    ->ArgNames({"n", "order", "block"})
    ->Args({100000, 8, 16})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(multiply_and_compress)
    ->ArgNames({"n", "order", "block"})
    ->ArgsProduct({{100000}, {8}, {8, 16}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
