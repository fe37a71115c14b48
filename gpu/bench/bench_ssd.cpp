// SSD and the quasiseparable mixer, forward.
//
// Floors: x, B, C and dt are read and y is written, once each.
// bf16, 8 x 4096 tokens of 32 heads of 64 channels, 128 states, one group: 287 MB (the mixer: 304 MB).
#include <cmath>
#include <string>

#include "bench/measure.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"
#include "structmat/nn/ssd.hpp"

using namespace structmat;
using namespace structmat::bench;
using nn::QuasiseparableMixerView, nn::SsdInput, nn::SsdOutput, nn::SsdView;

namespace {

using Cuda = space::cuda;

struct Shape {
  index_t batch, length, heads, channels, states;
};

std::string name_of(const std::string& what, const Shape& s, bool half) {
  return what + (half ? " bf16 b" : " float32 b") + std::to_string(s.batch) + " L" +
         std::to_string(s.length) + " H" + std::to_string(s.heads) + " P" +
         std::to_string(s.channels) + " N" + std::to_string(s.states);
}

/// One set: x alone is beyond the second-level cache.
template <class T>
struct Operands {
  explicit Operands(const Shape& s)
      : x(random<T, 4>({s.batch, s.length, s.heads, s.channels}, 1)),
        y(x.extents(), uninitialized),
        b(random<T, 4>({s.batch, s.length, 1, s.states}, 2)),
        c(random<T, 4>({s.batch, s.length, 1, s.states}, 3)),
        b2(random<T, 4>({s.batch, s.length, 1, s.states}, 4)),
        c2(random<T, 4>({s.batch, s.length, 1, s.states}, 5)),
        dt(random<T, 3>({s.batch, s.length, s.heads}, 6)),
        dt2(random<T, 3>({s.batch, s.length, s.heads}, 7)),
        delta(random<T, 3>({s.batch, s.length, s.heads}, 8)),
        a(random<float, 1>({s.heads}, 9)),
        bias(random<float, 1>({s.heads}, 10)),
        d(random<float, 2>({s.heads, 1}, 11)),
        shape(s) {
    // Between -1.5 and -0.5.
    Array<float, 1> host = to_host(a);
    for (index_t h = 0; h < s.heads; ++h) host(h) -= 1.0f;
    a = to_device(host);
  }
  SsdView<T, Cuda> ssd() const {
    SsdView<T, Cuda> m{dt, a, b, c};
    m.dt_bias = bias, m.d = skip();
    return m;
  }
  QuasiseparableMixerView<T, Cuda> mixer() const {
    QuasiseparableMixerView<T, Cuda> m{{dt, b, c}, {dt2, b2, c2}, a};
    m.dt_bias = bias, m.d = skip(), m.delta = delta;
    return m;
  }
  /// One a head.
  View<const float, 2, Cuda> skip() const {
    return View<const float, 2, Cuda>(d.data(), {shape.heads, shape.channels}, {1, 0});
  }
  double bytes(bool mixer) const {
    const double group = static_cast<double>(b.size()), step = static_cast<double>(dt.size());
    return sizeof(T) *
           (2.0 * static_cast<double>(x.size()) + (mixer ? 4 : 2) * group + (mixer ? 3 : 1) * step);
  }

  Array<T, 4, Cuda> x, y, b, c, b2, c2;
  Array<T, 3, Cuda> dt, dt2, delta;
  Array<float, 1, Cuda> a, bias;
  Array<float, 2, Cuda> d;
  Shape shape;
};

template <class T>
void measure(const Context& context, std::vector<Row>& rows, const Shape& s, double target,
             double mixer_target) {
  Operands<T> o(s);
  const SsdInput<T, Cuda> in{o.x};
  {
    const SsdView<T, Cuda> m = o.ssd();
    Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
    const exec::cuda e{context.stream(), workspace};
    Row r{.name = name_of("SSD", s, sizeof(T) == 2) + " forward"};
    r.ours_ms = context.time_graph(1, [&](int) { apply(e, m, in, SsdOutput<T, Cuda>{o.y}); });
    r.floor_ms = o.bytes(false) / context.copy_rate();
    if (target > 0) r.target_ms = target;
    rows.push_back(r);
  }
  const QuasiseparableMixerView<T, Cuda> m = o.mixer();
  const View<const T, 4, Cuda> x = o.x;
  Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, x)}, uninitialized);
  const exec::cuda e{context.stream(), workspace};
  Row r{.name = name_of("quasiseparable", s, sizeof(T) == 2) + " forward"};
  r.ours_ms = context.time_graph(1, [&](int) { apply(e, m, x, o.y.view()); });
  r.floor_ms = o.bytes(true) / context.copy_rate();
  if (mixer_target > 0) r.target_ms = mixer_target;
  rows.push_back(r);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "SSD and the quasiseparable mixer",
             [](Context& context, std::vector<Row>& rows) {
               measure<bf16>(context, rows, {8, 4096, 32, 64, 128}, 0.36, 0.9);
               measure<bf16>(context, rows, {8, 4096, 32, 64, 64}, 0, 0);
               measure<bf16>(context, rows, {1, 131072, 32, 64, 128}, 1.6, 0);
               measure<float>(context, rows, {8, 4096, 32, 64, 128}, 0, 0);
             });
}
