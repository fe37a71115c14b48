// SSD and the quasiseparable mixer, forward, backward (all cotangents, set) and both.
//
// Floors: forward reads x, B, C and dt (the mixer: delta) and writes y once each; backward reads those and y_bar and
// writes cotangents of x, B, C and dt (and delta) once each.
// bf16, 8 x 4096 tokens of 32 heads of 64 channels, 128 states, one group: 287 and 438 MB (the mixer: 304 and 475 MB).
#include <algorithm>
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
  double forward_bytes(bool mixer) const { return rows(2) + others(mixer); }
  double backward_bytes(bool mixer) const { return rows(3) + 2 * others(mixer); }
  double rows(int count) const {
    return static_cast<double>(sizeof(T)) * count * static_cast<double>(x.size());
  }
  /// Numbers of groups and of steps.
  double others(bool mixer) const {
    const double group = static_cast<double>(b[0].size()), step = static_cast<double>(delta.size());
    return sizeof(T) * ((mixer ? 4 : 2) * group + (mixer ? 3 : 1) * step);
  }

  Array<T, 4, Cuda> x, y, b[2], c[2];
  Array<T, 3, Cuda> dt[2], delta;
  Array<float, 1, Cuda> a, bias;
  Array<float, 2, Cuda> d;
  Shape shape;
};

struct Targets {
  double forward = 0, both = 0;
};

template <class T>
void measure(const Context& context, std::vector<Row>& rows, const Shape& s, const Targets& of_ssd,
             const Targets& of_mixer) {
  Arrays<T> o(s), bar(s);
  const View<const T, 4, Cuda> x = o.x, y_bar = bar.y;
  const std::string shape = std::string(sizeof(T) == 2 ? " bf16 b" : " float32 b") +
                            std::to_string(s.batch) + " L" + std::to_string(s.length) + " H" +
                            std::to_string(s.heads) + " P" + std::to_string(s.channels) + " N" +
                            std::to_string(s.states);
  const auto add = [&](const std::string& name, double bytes, double target, auto&& call) {
    Row r{.name = name};
    r.ours_ms = context.time_graph(1, [&](int) { call(); });
    r.floor_ms = bytes / context.copy_rate();
    if (target > 0) r.target_ms = target;
    rows.push_back(r);
  };
  const auto add_all = [&](const char* what, bool mixer, const Targets& target, auto&& forward,
                           auto&& backward) {
    const std::string name = what + shape;
    const double there = o.forward_bytes(mixer), back = o.backward_bytes(mixer);
    add(name + " forward", there, target.forward, forward);
    add(name + " backward", back, 0, backward);
    add(name + " forward and backward", there + back, target.both, [&] { forward(), backward(); });
  };
  {
    const SsdView<T, Cuda> m = o.ssd();
    const SsdInput<T, Cuda> in{o.x};
    Array<std::byte, 1, Cuda> workspace(
        {std::max(apply_workspace_bytes(m, in), apply_vjp_workspace_bytes(m, in))}, uninitialized);
    const exec::cuda e{context.stream(), workspace};
    add_all(
        "SSD", false, of_ssd, [&] { apply(e, m, in, SsdOutput<T, Cuda>{o.y}); },
        [&] { apply_vjp(e, m, in, y_bar, {}, bar.ssd_bar()); });
  }
  const QuasiseparableMixerView<T, Cuda> m = o.mixer();
  Array<std::byte, 1, Cuda> workspace(
      {std::max(apply_workspace_bytes(m, x), apply_vjp_workspace_bytes(m, x))}, uninitialized);
  const exec::cuda e{context.stream(), workspace};
  add_all(
      "quasiseparable", true, of_mixer, [&] { apply(e, m, x, o.y.view()); },
      [&] { apply_vjp(e, m, x, y_bar, bar.mixer_bar()); });
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "SSD and the quasiseparable mixer",
             [](Context& context, std::vector<Row>& rows) {
               measure<bf16>(context, rows, {8, 4096, 32, 64, 128}, {0.36, 1.8}, {0.9, 3.6});
               measure<bf16>(context, rows, {8, 4096, 32, 64, 64}, {}, {});
               measure<bf16>(context, rows, {1, 131072, 32, 64, 128}, {1.6, 7}, {});
               measure<float>(context, rows, {8, 4096, 32, 64, 128}, {}, {});
             });
}
