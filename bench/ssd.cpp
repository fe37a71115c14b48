// SSD forward and in reverse mode. The peer is peers/ssd_cpu.py (the chunked formula in compiled torch).

#include <benchmark/benchmark.h>

#include <cmath>

#include "structmat/nn/ssd.hpp"

namespace {

using namespace structmat;

/// One layer: batch 1, one group, D a head, no gate. peers/ssd_cpu.py makes the same numbers.
template <class T>
struct Layer {
  Layer(index_t length, index_t heads, index_t channels, index_t states)
      : x({1, length, heads, channels}),
        y(x.extents()),
        y_bar(x.extents()),
        x_bar(x.extents()),
        b({1, length, 1, states}),
        c(b.extents()),
        b_bar(b.extents()),
        c_bar(b.extents()),
        dt({1, length, heads}),
        dt_bar(dt.extents()),
        a({heads}),
        a_bar(a.extents()),
        d({heads, 1}),
        d_bar(d.extents()) {
    fill(x, 0.37), fill(y_bar, 0.61), fill(b, 0.53), fill(c, 0.71), fill(dt, 0.29);
    for (index_t h = 0; h < heads; ++h) {
      a(h) = static_cast<T>(-0.1 - 0.05 * static_cast<double>(h)), d(h, 0) = 1;
    }
  }
  static void fill(auto& to, double step) {
    for (index_t i = 0; i < to.size(); ++i) {
      to.data()[i] = static_cast<T>(std::sin(step * static_cast<double>(i % 99991)));
    }
  }
  nn::SsdView<T> matrix() const {
    nn::SsdView<T> m{dt, a, b, c};
    m.d = d.view().broadcast(1, x.extent(3));
    return m;
  }
  nn::SsdCotangent<T> cotangent() {
    nn::SsdCotangent<T> bar{
        x_bar, {}, dt_bar, a_bar, b_bar, c_bar, d_bar.view().broadcast(1, x.extent(3))};
    bar.accumulate = false;
    return bar;
  }

  Array<T, 4> x, y, y_bar, x_bar, b, c, b_bar, c_bar;
  Array<T, 3> dt, dt_bar;
  Array<T, 1> a, a_bar;
  Array<T, 2> d, d_bar;
};

/// Arguments: L, H, P, N, threads, 1 forward + 2 reverse.
template <class T>
void ssd(benchmark::State& state) {
  Layer<T> layer(state.range(0), state.range(1), state.range(2), state.range(3));
  const exec::cpu e{static_cast<int>(state.range(4))};
  const auto passes = state.range(5);
  for (auto _ : state) {
    if (passes & 1)
      nn::apply(e, layer.matrix(), nn::SsdInput<T>{layer.x}, nn::SsdOutput<T>{layer.y});
    if (passes & 2) {
      nn::apply_vjp(e, layer.matrix(), nn::SsdInput<T>{layer.x}, View<const T, 4>(layer.y_bar), {},
                    layer.cotangent());
    }
    benchmark::ClobberMemory();
  }
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"L", "H", "P", "N", "threads", "passes"})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  for (const index_t threads : {1, 2}) {
    for (const index_t passes : {1, 2, 3}) b->Args({4096, 8, 64, 64, threads, passes});
  }
}

BENCHMARK_TEMPLATE(ssd, float)->Apply(shapes);
BENCHMARK_TEMPLATE(ssd, double)->Apply(shapes);

}  // namespace

BENCHMARK_MAIN();
