// Reverse mode of the quasiseparable mixer, and both modes one after the other.
//
// Floors: forward, x, B, C, dt and delta are read and y is written; backward, those and y_bar are read and all cotangents are
// written, once each. bf16, 8 x 4096 tokens of 32 heads of 64 channels, 128 states, one group: 304 and 482 MB.
#include <string>

#include "bench/measure.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"

using namespace structmat;
using namespace structmat::bench;
using nn::QuasiseparableMixerCotangent, nn::QuasiseparableMixerView;

namespace {

using Cuda = space::cuda;

struct Shape {
  index_t batch, length, heads, channels, states;
};

template <class T>
struct Operands {
  explicit Operands(const Shape& s)
      : x(random<T, 4>({s.batch, s.length, s.heads, s.channels}, 1)),
        y_bar(random<T, 4>(x.extents(), 2)),
        y(x.extents(), uninitialized),
        x_bar(x.extents(), uninitialized),
        delta(random<T, 3>({s.batch, s.length, s.heads}, 3)),
        delta_bar(delta.extents(), uninitialized),
        a(random<float, 1>({s.heads}, 4)),
        bias(random<float, 1>({s.heads}, 5)),
        a_bar(a.extents(), uninitialized),
        bias_bar(a.extents(), uninitialized),
        d(random<float, 2>({s.heads, 1}, 6)),
        d_bar(d.extents(), uninitialized),
        shape(s) {
    for (int i = 0; i < 2; ++i) {
      b[i] = random<T, 4>({s.batch, s.length, 1, s.states}, 7 + i);
      c[i] = random<T, 4>(b[i].extents(), 9 + i);
      dt[i] = random<T, 3>(delta.extents(), 11 + i);
      b_bar[i] = Array<T, 4, Cuda>(b[i].extents(), uninitialized);
      c_bar[i] = Array<T, 4, Cuda>(b[i].extents(), uninitialized);
      dt_bar[i] = Array<T, 3, Cuda>(dt[i].extents(), uninitialized);
    }
    // Between -1.5 and -0.5.
    Array<float, 1> host = to_host(a);
    for (float& v : host) v -= 1.0f;
    a = to_device(host);
  }
  QuasiseparableMixerView<T, Cuda> matrix(bool diagonal) const {
    QuasiseparableMixerView<T, Cuda> m{{dt[0], b[0], c[0]}, {dt[1], b[1], c[1]}, a};
    m.dt_bias = bias;
    if (diagonal) m.delta = delta, m.d = d.view().broadcast(1, shape.channels);
    return m;
  }
  QuasiseparableMixerCotangent<T, Cuda> bars(bool diagonal) {
    QuasiseparableMixerCotangent<T, Cuda> bar{x_bar};
    bar.forward = {dt_bar[0], b_bar[0], c_bar[0]}, bar.backward = {dt_bar[1], b_bar[1], c_bar[1]};
    bar.a = a_bar, bar.dt_bias = bias_bar;
    if (diagonal) bar.delta = delta_bar, bar.d = d_bar.view().broadcast(1, shape.channels);
    bar.accumulate = false;
    return bar;
  }
  double forward_bytes() const { return rows(2) + groups(4) + steps(3); }
  double backward_bytes() const { return rows(3) + groups(8) + steps(6); }
  double rows(int count) const { return bytes(count, x.size()); }
  double groups(int count) const { return bytes(count, b[0].size()); }
  double steps(int count) const { return bytes(count, delta.size()); }
  static double bytes(int count, index_t size) {
    return static_cast<double>(sizeof(T)) * count * static_cast<double>(size);
  }

  Array<T, 4, Cuda> x, y_bar, y, x_bar, b[2], c[2], b_bar[2], c_bar[2];
  Array<T, 3, Cuda> dt[2], dt_bar[2], delta, delta_bar;
  Array<float, 1, Cuda> a, bias, a_bar, bias_bar;
  Array<float, 2, Cuda> d, d_bar;
  Shape shape;
};

template <class T>
void measure(const Context& context, std::vector<Row>& rows, const Shape& s, double target) {
  Operands<T> o(s);
  const std::string shape = std::string(sizeof(T) == 2 ? " bf16 b" : " float32 b") +
                            std::to_string(s.batch) + " L" + std::to_string(s.length) + " H" +
                            std::to_string(s.heads) + " P" + std::to_string(s.channels) + " N" +
                            std::to_string(s.states);
  const View<const T, 4, Cuda> x = o.x, y_bar = o.y_bar;
  const auto whole = o.matrix(true), part = o.matrix(false);
  const auto bars = o.bars(true), some = o.bars(false);
  Array<std::byte, 1, Cuda> workspace(
      {std::max(apply_workspace_bytes(whole, x), apply_vjp_workspace_bytes(whole, x))},
      uninitialized);
  const exec::cuda e{context.stream(), workspace};
  const auto add = [&](const char* what, double bytes, double wanted, const auto& call) {
    Row r{.name = "quasiseparable" + shape + what};
    r.ours_ms = context.time_graph(1, [&](int) { call(); });
    r.floor_ms = bytes / context.copy_rate();
    if (wanted > 0) r.target_ms = wanted;
    rows.push_back(r);
  };
  add(" backward", o.backward_bytes(), 0, [&] { apply_vjp(e, whole, x, y_bar, bars); });
  add(" backward, no diagonal", o.backward_bytes() - o.steps(2), 0,
      [&] { apply_vjp(e, part, x, y_bar, some); });
  add(" forward and backward", o.forward_bytes() + o.backward_bytes(), target, [&] {
    apply(e, whole, x, o.y.view());
    apply_vjp(e, whole, x, y_bar, bars);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "the quasiseparable mixer, reverse mode",
             [](Context& context, std::vector<Row>& rows) {
               measure<bf16>(context, rows, {8, 4096, 32, 64, 128}, 3.6);
               measure<bf16>(context, rows, {8, 4096, 32, 64, 64}, 0);
               measure<float>(context, rows, {2, 4096, 32, 64, 64}, 0);
             });
}
