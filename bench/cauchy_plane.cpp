// Cauchy sums over nodes in the plane: making the plan, and applying it, for node sets, sizes, tolerances,
// right-hand sides and threads. `exponent` is that of the time in n, from the size before.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <vector>

#include "../src/cauchy/multipole.hpp"

namespace {

using namespace structmat;
using C = std::complex<double>;

enum Kind { square, circle, line, magnitudes, cluster };
constexpr const char* names[] = {"square", "circle", "line", "magnitudes", "cluster"};

std::vector<C> nodes(Kind kind, index_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<C> z(n);
  for (index_t i = 0; i < n; ++i) {
    const double a = uniform(engine), b = uniform(engine), angle = 2 * std::numbers::pi * a;
    switch (kind) {
      case square:
        z[i] = {a, b};
        break;
      case circle:
        z[i] = std::polar(1.0, angle);
        break;
      case line:
        z[i] = a;
        break;
      case magnitudes:
        z[i] = std::polar(std::pow(10, 20 * b - 10), angle);
        break;
      case cluster:
        z[i] = i % 10 == 0 ? C(a, b) : C(0.5, 0.5) + 1e-12 * std::polar(std::sqrt(b), angle);
    }
  }
  return z;
}

struct Problem {
  std::vector<C> s, t;
  Array<C, 2> x, y;

  Problem(Kind kind, index_t n, index_t k) : s(nodes(kind, n, 1)), t(nodes(kind, n, 2)) {
    x = Array<C, 2>({n, k});
    y = Array<C, 2>({n, k});
    std::mt19937_64 engine(3);
    std::uniform_real_distribution<double> uniform(-0.5, 0.5);
    for (C& v : x) {
      const double re = uniform(engine);
      v = {re, uniform(engine)};
    }
  }

  cauchy::Multipole<double> plan(int threads, double tolerance) const {
    // Nodes of a small cluster may be equal.
    return {View<const C, 1>(s), View<const C, 1>(t), tolerance, Coincidence::skip,
            exec::cpu{threads}};
  }
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Arguments: kind, n, digits of the tolerance, right-hand sides, threads.
void plan_and_apply(benchmark::State& state) {
  const auto kind = static_cast<Kind>(state.range(0));
  const index_t n = state.range(1), k = state.range(3);
  const int threads = static_cast<int>(state.range(4));
  const double tolerance = std::pow(10, -static_cast<double>(state.range(2)));
  Problem problem(kind, n, k);
  double plan_time = HUGE_VAL, apply_time = HUGE_VAL;
  for (auto _ : state) {
    const double begin = seconds();
    const auto plan = problem.plan(threads, tolerance);
    const double middle = seconds();
    plan.apply(exec::cpu{threads}, problem.x, problem.y);
    const double end = seconds();
    benchmark::ClobberMemory();
    plan_time = std::min(plan_time, middle - begin);
    apply_time = std::min(apply_time, end - middle);
  }
  state.SetLabel(names[kind]);
  state.counters["plan_s"] = plan_time;
  state.counters["apply_s"] = apply_time;
  static std::map<std::vector<int64_t>, std::pair<double, double>> before;
  const std::vector<int64_t> series{state.range(0), state.range(2), state.range(3), state.range(4)};
  const std::pair<double, double> now{static_cast<double>(n), plan_time + apply_time};
  if (const auto last = before.find(series); last != before.end()) {
    state.counters["exponent"] =
        std::log(now.second / last->second.second) / std::log(now.first / last->second.first);
  }
  before[series] = now;
}

void cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"kind", "n", "digits", "rhs", "threads"})->UseRealTime();
  for (const int threads : {1, 2}) {
    for (const int kind : {square, circle, line, magnitudes, cluster}) {
      for (const index_t n : {10'000, 100'000, 1'000'000}) b->Args({kind, n, 12, 1, threads});
    }
  }
  for (const int digits : {3, 6, 9, 14}) b->Args({square, 1'000'000, digits, 1, 1});
  for (const index_t k : {2, 4, 8}) b->Args({square, 100'000, 12, k, 1});
}

BENCHMARK(plan_and_apply)->Apply(cases)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
