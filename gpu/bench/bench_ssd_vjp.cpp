// SSD and the quasiseparable mixer, forward and backward: all cotangents, set.
//
// Floors: forward reads x, B, C and dt and writes y once each; backward reads x, y_bar, B, C and dt and writes
// cotangents of x, B, C and dt once each.
#include <string>

#include "bench/measure.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"
#include "structmat/nn/ssd.hpp"

using namespace structmat;
using namespace structmat::bench;
using nn::QuasiseparableMixerCotangent, nn::QuasiseparableMixerView, nn::SsdCotangent, nn::SsdInput,
    nn::SsdOutput, nn::SsdView;

namespace {

using Cuda = space::cuda;

struct Shape {
  index_t batch, length, heads, channels, states;
};

/// Operands and what belongs to them.
template <class T>
struct Arrays {
  explicit Arrays(const Shape& s)
      : x(random<T, 4>({s.batch, s.length, s.heads, s.channels}, 1)),
        y(random<T, 4>(x.extents(), 12)),
        b{random<T, 4>({s.batch, s.length, 1, s.states}, 2),
          random<T, 4>({s.batch, s.length, 1, s.states}, 4)},
        c{random<T, 4>(b[0].extents(), 3), random<T, 4>(b[0].extents(), 5)},
        dt{random<T, 3>({s.batch, s.length, s.heads}, 6),
           random<T, 3>({s.batch, s.length, s.heads}, 7)},
        delta(random<T, 3>(dt[0].extents(), 8)),
        a(random<float, 1>({s.heads}, 9)),
        bias(random<float, 1>({s.heads}, 10)),
        d(random<float, 2>({s.heads, 1}, 11)),
        shape(s) {
    // Between -1.5 and -0.5.
    Array<float, 1> host = to_host(a);
    for (index_t h = 0; h < s.heads; ++h) host(h) -= 1.0f;
    a = to_device(host);
  }
  View<float, 2, Cuda> skip() {
    return View<float, 2, Cuda>(d.data(), {shape.heads, shape.channels}, {1, 0});
  }
  SsdView<T, Cuda> ssd() { return {dt[0], a, b[0], c[0], skip(), bias}; }
  QuasiseparableMixerView<T, Cuda> mixer() {
    return {{dt[0], b[0], c[0]}, {dt[1], b[1], c[1]}, a, delta, skip(), bias};
  }
  SsdCotangent<T, Cuda> ssd_bar() { return {x, {}, dt[0], a, b[0], c[0], skip(), bias, {}, false}; }
  QuasiseparableMixerCotangent<T, Cuda> mixer_bar() {
    return {x, {dt[0], b[0], c[0]}, {dt[1], b[1], c[1]}, a, delta, skip(), bias, false};
  }
  double bytes(bool mixer) const {
    const double group = static_cast<double>(b[0].size()), step = static_cast<double>(dt[0].size());
    return sizeof(T) * (5.0 * static_cast<double>(x.size()) +
                        3 * ((mixer ? 4 : 2) * group + (mixer ? 3 : 1) * step));
  }

  Array<T, 4, Cuda> x, y, b[2], c[2];
  Array<T, 3, Cuda> dt[2], delta;
  Array<float, 1, Cuda> a, bias;
  Array<float, 2, Cuda> d;
  Shape shape;
};

template <class T>
void measure(const Context& context, std::vector<Row>& rows, const Shape& s, double target,
             double mixer_target) {
  Arrays<T> o(s), bar(s);
  const View<const T, 4, Cuda> x = o.x, y_bar = bar.y;
  const std::string name = std::string(sizeof(T) == 2 ? " bf16 b" : " float32 b") +
                           std::to_string(s.batch) + " L" + std::to_string(s.length) + " H" +
                           std::to_string(s.heads) + " P" + std::to_string(s.channels) + " N" +
                           std::to_string(s.states);
  const auto add = [&](const std::string& what, bool mixer, double must, auto&& call) {
    Row r{.name = what};
    r.ours_ms = context.time_graph(1, [&](int) { call(); });
    r.floor_ms = o.bytes(mixer) / context.copy_rate();
    if (must > 0) r.target_ms = must;
    rows.push_back(r);
  };
  {
    const SsdView<T, Cuda> m = o.ssd();
    const SsdInput<T, Cuda> in{o.x};
    Array<std::byte, 1, Cuda> workspace(
        {std::max(apply_workspace_bytes(m, in), apply_vjp_workspace_bytes(m, in))}, uninitialized);
    const exec::cuda e{context.stream(), workspace};
    add("SSD" + name + " forward", false, 0, [&] { apply(e, m, in, SsdOutput<T, Cuda>{o.y}); });
    add("SSD" + name + " backward", false, 0,
        [&] { apply_vjp(e, m, in, y_bar, {}, bar.ssd_bar()); });
    add("SSD" + name + " forward and backward", false, target, [&] {
      apply(e, m, in, SsdOutput<T, Cuda>{o.y});
      apply_vjp(e, m, in, y_bar, {}, bar.ssd_bar());
    });
  }
  const QuasiseparableMixerView<T, Cuda> m = o.mixer();
  Array<std::byte, 1, Cuda> workspace(
      {std::max(apply_workspace_bytes(m, x), apply_vjp_workspace_bytes(m, x))}, uninitialized);
  const exec::cuda e{context.stream(), workspace};
  add("quasiseparable" + name + " forward and backward", true, mixer_target, [&] {
    apply(e, m, x, o.y.view());
    apply_vjp(e, m, x, y_bar, bar.mixer_bar());
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "SSD and the quasiseparable mixer, forward and backward",
             [](Context& context, std::vector<Row>& rows) {
               measure<bf16>(context, rows, {8, 4096, 32, 64, 128}, 1.8, 3.6);
               measure<bf16>(context, rows, {8, 4096, 32, 64, 64}, 0, 0);
               measure<bf16>(context, rows, {1, 131072, 32, 64, 128}, 7, 0);
               measure<float>(context, rows, {8, 4096, 32, 64, 128}, 0, 0);
             });
}
