// Selective scans, forward and in reverse mode.
//
// Floors: forward reads u, delta and z and writes y, reverse mode reads those and the cotangent of y and writes those of
// u, delta and z, once each: at bf16, batch 8, 4096 tokens, 2048 channels 0.54 GB and 0.94 GB. What bounds them are
// exponentials: batch L D N of them forward, twice as many in reverse mode.
#include <cmath>

#include "bench/measure.hpp"
#include "structmat/nn/selective_scan.hpp"

using namespace structmat;
using namespace structmat::bench;
using namespace structmat::nn;

namespace {

using Cuda = space::cuda;

struct Shape {
  index_t batch, length, channels, states;
};

template <class T>
struct Operands {
  explicit Operands(const Shape& s)
      : u(random<T, 3>({s.batch, s.length, s.channels}, 1)),
        z(random<T, 3>({s.batch, s.length, s.channels}, 2)),
        delta(random<T, 3>({s.batch, s.length, s.channels}, 3)),
        y_bar(random<T, 3>({s.batch, s.length, s.channels}, 4)),
        y(u.extents(), uninitialized),
        u_bar(u.extents(), uninitialized),
        z_bar(u.extents(), uninitialized),
        delta_bar(u.extents(), uninitialized),
        b(random<T, 4>({s.batch, s.length, 1, s.states}, 5)),
        c(random<T, 4>({s.batch, s.length, 1, s.states}, 6)),
        b_bar(b.extents(), uninitialized),
        c_bar(b.extents(), uninitialized),
        d(random<float, 1>({s.channels}, 7)),
        bias({s.channels}),
        a({s.channels, s.states}),
        a_bar({s.channels, s.states}),
        d_bar({s.channels}),
        bias_bar({s.channels}) {
    Array<float, 2> rates(a.extents());
    for (index_t i = 0; i < s.channels; ++i) {
      for (index_t n = 0; n < s.states; ++n) rates(i, n) = -static_cast<float>(n + 1);
    }
    a = to_device(rates);
    Array<float, 1> steps(bias.extents());
    std::fill(steps.begin(), steps.end(), -4.6f);  // steps of about 0.01
    bias = to_device(steps);
  }
  SelectiveScanView<T, float, Cuda> matrix() const {
    SelectiveScanView<T, float, Cuda> m{};
    m.delta = delta, m.a = a, m.b.varying = b, m.c.varying = c, m.d = d, m.delta_bias = bias;
    return m;
  }
  SelectiveScanInput<T, float, Cuda> input() const { return {u, z, {}}; }
  SelectiveScanCotangent<T, float, Cuda> cotangent() {
    SelectiveScanCotangent<T, float, Cuda> bar{};
    bar.u = u_bar, bar.z = z_bar, bar.delta = delta_bar, bar.a = a_bar;
    bar.b_varying = b_bar, bar.c_varying = c_bar, bar.d = d_bar, bar.delta_bias = bias_bar;
    bar.accumulate = false;
    return bar;
  }

  Array<T, 3, Cuda> u, z, delta, y_bar, y, u_bar, z_bar, delta_bar;
  Array<T, 4, Cuda> b, c, b_bar, c_bar;
  Array<float, 1, Cuda> d, bias;
  Array<float, 2, Cuda> a, a_bar;
  Array<float, 1, Cuda> d_bar, bias_bar;
};

template <class T, int Rank>
Array<double, Rank> doubles(const Array<T, Rank, Cuda>& from) {
  const auto here = to_host(from);
  Array<double, Rank> to(here.extents());
  std::transform(here.begin(), here.end(), to.begin(),
                 [](T v) { return static_cast<double>(static_cast<float>(v)); });
  return to;
}

/// The largest error relative to the largest number.
template <class A, class B>
double error_of(const A& got, const B& expected) {
  double worst = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(got.data()[i] - expected.data()[i]));
    largest = std::max(largest, std::abs(expected.data()[i]));
  }
  return worst / largest;
}

struct Errors {
  double forward, reverse;
};

/// Of few channels, against the CPU in double.
template <class T>
Errors errors(index_t length, index_t states) {
  Operands<T> o({1, length, 64, states});
  Array<std::byte, 1, Cuda> workspace({apply_vjp_workspace_bytes(o.matrix(), o.input())},
                                      uninitialized);
  const exec::cuda e{nullptr, workspace};
  apply(e, o.matrix(), o.input(), SelectiveScanOutput<T, float, Cuda>{o.y});
  apply_vjp(e, o.matrix(), o.input(), View<const T, 3, Cuda>(o.y_bar), {}, o.cotangent());
  const auto u = doubles(o.u), z = doubles(o.z), delta = doubles(o.delta), y_bar = doubles(o.y_bar);
  const auto b = doubles(o.b), c = doubles(o.c);
  const auto d = doubles(o.d), bias = doubles(o.bias);
  const auto a = doubles(o.a);
  SelectiveScanView<double> m{};
  m.delta = delta, m.a = a, m.b.varying = b, m.c.varying = c, m.d = d, m.delta_bias = bias;
  const SelectiveScanInput<double> in{u, z, {}};
  Array<double, 3> y(u.extents()), u_bar(u.extents()), delta_bar(u.extents());
  Array<double, 4> b_bar(b.extents());
  Array<double, 2> a_bar(a.extents());
  apply(exec::cpu{}, m, in, SelectiveScanOutput<double>{y});
  SelectiveScanCotangent<double> bar{};
  bar.u = u_bar, bar.delta = delta_bar, bar.a = a_bar, bar.b_varying = b_bar;
  apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), {}, bar);
  return {error_of(doubles(o.y), y),
          std::max({error_of(doubles(o.u_bar), u_bar), error_of(doubles(o.delta_bar), delta_bar),
                    error_of(doubles(o.a_bar), a_bar), error_of(doubles(o.b_bar), b_bar)})};
}

template <class T>
void measure(const Context& context, std::vector<Row>& table, const Shape& s, double forward_target,
             double reverse_target) {
  const double bytes = static_cast<double>(s.batch * s.length * s.channels) * sizeof(T);
  Operands<T> o(s);
  Array<std::byte, 1, Cuda> workspace({apply_vjp_workspace_bytes(o.matrix(), o.input())},
                                      uninitialized);
  const exec::cuda e{context.stream(), workspace};
  const std::string name = std::string(sizeof(T) == 2 ? "bf16" : "float32") + " batch " +
                           std::to_string(s.batch) + " L " + std::to_string(s.length) + " D " +
                           std::to_string(s.channels) + " N " + std::to_string(s.states);
  Row f{.name = name + ", forward"}, r{.name = name + ", reverse"};
  f.ours_ms = context.time_graph(
      1, [&](int) { apply(e, o.matrix(), o.input(), SelectiveScanOutput<T, float, Cuda>{o.y}); });
  r.ours_ms = context.time_graph(1, [&](int) {
    apply_vjp(e, o.matrix(), o.input(), View<const T, 3, Cuda>(o.y_bar), {}, o.cotangent());
  });
  f.floor_ms = 4 * bytes / context.copy_rate();
  r.floor_ms = 7 * bytes / context.copy_rate();
  if (forward_target > 0) f.target_ms = forward_target, r.target_ms = reverse_target;
  const Errors error = errors<T>(std::min<index_t>(s.length, 1024), s.states);
  f.error = error.forward, r.error = error.reverse;
  table.push_back(f), table.push_back(r);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "selective scan", [](Context& context, std::vector<Row>& rows) {
    measure<bf16>(context, rows, {8, 4096, 2048, 16}, 0.8, 3.0);
    measure<float>(context, rows, {8, 4096, 2048, 16}, 0, 0);
    measure<bf16>(context, rows, {1, 32768, 2048, 16}, 0, 0);
    measure<bf16>(context, rows, {8, 2048, 2048, 64}, 0, 0);
    measure<bf16>(context, rows, {64, 1, 4096, 16}, 0, 0);
  });
}
