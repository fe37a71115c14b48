// Short convolutions with silu, forward and in reverse mode.
//
// Floors: forward reads x and writes y, reverse mode reads x and the cotangent of y and writes that of x, once each.
// bf16, 8 x 4096 tokens of 2304 channels: 302 MB and 453 MB.
#include <cmath>

#include "bench/measure.hpp"
#include "structmat/nn/conv1d.hpp"

using namespace structmat;
using namespace structmat::bench;
using nn::Conv1dCotangent, nn::Conv1dInput, nn::Conv1dOutput, nn::Conv1dView;

namespace {

using Cuda = space::cuda;

struct Shape {
  index_t batch, length, channels, taps, ahead = 0;
};

template <class T>
struct Operands {
  explicit Operands(const Shape& s)
      : x(random<T, 3>({s.batch, s.length, s.channels}, 1)),
        y_bar(random<T, 3>({s.batch, s.length, s.channels}, 2)),
        y(x.extents(), uninitialized),
        x_bar(x.extents(), uninitialized) {}

  Array<T, 3, Cuda> x, y_bar, y, x_bar;
};

/// The largest error of `got` (a sequence of one sample) against the CPU in double, relative to the largest number.
template <class T>
double error_of(const Array<T, 2>& got, const Array<double, 3>& expected) {
  double worst = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    const double v = expected.data()[i];
    worst = std::max(worst, std::abs(static_cast<double>(static_cast<float>(got.data()[i])) - v));
    largest = std::max(largest, std::abs(v));
  }
  return worst / largest;
}

template <class T, int Rank>
Array<double, Rank> doubles(const Array<T, Rank>& from) {
  Array<double, Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(),
                 [](T v) { return static_cast<double>(static_cast<float>(v)); });
  return to;
}

/// The first `rows` tokens and all channels of the first sample.
template <class T>
Array<T, 2> first_tokens(const Array<T, 3, Cuda>& from, index_t rows) {
  Array<T, 2> to({rows, from.extent(2)});
  structmat::detail::copy_device_to_host(to.data(), from.data(), sizeof(T) * to.size());
  return to;
}

template <class T>
void measure(const Context& context, std::vector<Row>& rows, const Shape& s, double forward_target,
             double both_target) {
  const double bytes = static_cast<double>(s.batch * s.length * s.channels) * sizeof(T);
  const int sets = context.sets_for(2 * bytes);
  std::vector<Operands<T>> operands;
  for (int i = 0; i < sets; ++i) operands.emplace_back(s);
  const auto weight = random<float, 2>({s.channels, s.taps}, 3);
  const auto bias = random<float, 1>({s.channels}, 4);
  Array<float, 2, Cuda> weight_bar({s.channels, s.taps});
  Array<float, 1, Cuda> bias_bar({s.channels});
  const Conv1dView<T, Cuda> m{weight, bias, s.ahead, nn::Activation::silu};
  const auto input = [&](int i) { return Conv1dInput<T, Cuda>{operands[i].x}; };
  Array<std::byte, 1, Cuda> workspace({apply_vjp_workspace_bytes(m, input(0))}, uninitialized);
  const exec::cuda e{context.stream(), workspace};
  const auto forward = [&](int i) { apply(e, m, input(i), Conv1dOutput<T, Cuda>{operands[i].y}); };
  const auto reverse = [&](int i) {
    apply_vjp(e, m, input(i), View<const T, 3, Cuda>(operands[i].y_bar), {},
              Conv1dCotangent<T, Cuda>{operands[i].x_bar, weight_bar, bias_bar, {}, false});
  };
  const std::string name = std::string(sizeof(T) == 2 ? "bf16" : "float32") + " b" +
                           std::to_string(s.batch) + " L" + std::to_string(s.length) + " C" +
                           std::to_string(s.channels) + " w" + std::to_string(s.taps) +
                           (s.ahead > 0 ? " centred" : "");
  Row f{.name = name + " forward"}, b{.name = name + " reverse"}, both{.name = name + " both"};
  f.ours_ms = context.time_graph(sets, forward);
  b.ours_ms = context.time_graph(sets, reverse);
  both.ours_ms = context.time_graph(sets, [&](int i) { forward(i), reverse(i); });
  f.floor_ms = 2 * bytes / context.copy_rate();
  b.floor_ms = 3 * bytes / context.copy_rate();
  both.floor_ms = 5 * bytes / context.copy_rate();
  if (forward_target > 0) f.target_ms = forward_target, both.target_ms = both_target;

  // Errors for the first tokens, whose results depend on no later ones than these.
  const index_t checked = std::min<index_t>(s.length, 256),
                whole = s.length > checked ? checked - s.taps : checked;
  const auto x = doubles(first_tokens(operands[0].x, checked)),
             y_bar = doubles(first_tokens(operands[0].y_bar, checked));
  const auto w = doubles(to_host(weight));
  const auto constants = doubles(to_host(bias));
  const View<const double, 3> xs(x.data(), {1, checked, s.channels}),
      bars(y_bar.data(), {1, checked, s.channels});
  Array<double, 3> y(xs.extents()), x_bar(xs.extents());
  const Conv1dView<double> host{w, constants, s.ahead, nn::Activation::silu};
  apply(exec::cpu{}, host, Conv1dInput<double>{xs}, Conv1dOutput<double>{y});
  apply_vjp(exec::cpu{}, host, Conv1dInput<double>{xs}, bars, {}, Conv1dCotangent<double>{x_bar});
  f.error = error_of(first_tokens(operands[0].y, whole), y);
  b.error = error_of(first_tokens(operands[0].x_bar, whole), x_bar);
  rows.push_back(f), rows.push_back(b), rows.push_back(both);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "short convolution", [](Context& context, std::vector<Row>& rows) {
    measure<bf16>(context, rows, {8, 4096, 2304, 4}, 0.12, 0.5);
    measure<bf16>(context, rows, {8, 4096, 2304, 7, 3}, 0, 0);
    measure<bf16>(context, rows, {1, 131072, 2304, 4}, 0, 0);
    measure<float>(context, rows, {8, 4096, 2304, 4}, 0, 0);
    measure<bf16>(context, rows, {64, 1, 2304, 4}, 0, 0);
  });
}
