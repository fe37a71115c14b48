// Gated norms, forward and in reverse mode.
//
// Floors: forward reads x and z and writes y, reverse mode reads x, z and the cotangent of y and writes those of x and z,
// once each. bf16, 32768 rows of 2048 channels: 403 MB and 671 MB.
#include <cmath>

#include "bench/measure.hpp"
#include "structmat/nn/gated_norm.hpp"

using namespace structmat;
using namespace structmat::bench;
using nn::GatedNormOptions;

namespace {

using Cuda = space::cuda;

template <class T>
struct Operands {
  explicit Operands(const std::array<index_t, 2>& extents)
      : x(random<T, 2>(extents, 1)),
        z(random<T, 2>(extents, 2)),
        y_bar(random<T, 2>(extents, 3)),
        y(extents, uninitialized),
        x_bar(extents, uninitialized),
        z_bar(extents, uninitialized) {}

  Array<T, 2, Cuda> x, z, y_bar, y, x_bar, z_bar;
};

/// The first rows.
template <class T>
Array<double, 2> first_rows(const Array<T, 2, Cuda>& from, index_t rows) {
  Array<T, 2> here({rows, from.extent(1)});
  structmat::detail::copy_device_to_host(here.data(), from.data(), sizeof(T) * here.size());
  Array<double, 2> to(here.extents());
  std::transform(here.begin(), here.end(), to.begin(),
                 [](T v) { return static_cast<double>(static_cast<float>(v)); });
  return to;
}

/// The largest error relative to the largest number.
double error_of(const Array<double, 2>& got, const Array<double, 2>& expected) {
  double worst = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(got.data()[i] - expected.data()[i]));
    largest = std::max(largest, std::abs(expected.data()[i]));
  }
  return worst / largest;
}

template <class T>
void measure(const Context& context, std::vector<Row>& table, index_t rows, index_t channels,
             const GatedNormOptions& options, double forward_target, double both_target) {
  const double bytes = static_cast<double>(rows * channels) * sizeof(T);
  const int sets = context.sets_for(3 * bytes);
  std::vector<Operands<T>> operands;
  for (int i = 0; i < sets; ++i) operands.emplace_back(std::array<index_t, 2>{rows, channels});
  const auto w = random<float, 1>({channels}, 4);
  Array<float, 1, Cuda> w_bar({channels});
  const auto input = [](const Array<T, 2, Cuda>& a) { return View<const T, 2, Cuda>(a); };
  const View<const float, 1, Cuda> weights(w);
  Array<std::byte, 1, Cuda> workspace(
      {nn::gated_norm_vjp_workspace_bytes<T>(input(operands[0].x), options)}, uninitialized);
  const exec::cuda e{context.stream(), workspace};
  const auto forward = [&](int i) {
    Operands<T>& o = operands[i];
    nn::gated_norm<T>(e, input(o.x), input(o.z), weights, options, o.y.view());
  };
  const auto reverse = [&](int i) {
    Operands<T>& o = operands[i];
    nn::gated_norm_vjp<T>(e, input(o.x), input(o.z), weights, options, input(o.y_bar),
                          o.x_bar.view(), o.z_bar.view(), w_bar.view());
  };
  std::string name = std::string(sizeof(T) == 2 ? "bf16 " : "float32 ") + std::to_string(rows) +
                     " x " + std::to_string(channels) +
                     (options.gate == nn::Gate::before ? " gate before" : " gate after");
  if (options.group > 0) name += " groups of " + std::to_string(options.group);
  Row f{.name = name + ", forward"}, b{.name = name + ", reverse"}, both{.name = name + ", both"};
  f.ours_ms = context.time_graph(sets, forward);
  b.ours_ms = context.time_graph(sets, reverse);
  both.ours_ms = context.time_graph(sets, [&](int i) { forward(i), reverse(i); });
  f.floor_ms = 3 * bytes / context.copy_rate();
  b.floor_ms = 5 * bytes / context.copy_rate();
  both.floor_ms = 8 * bytes / context.copy_rate();
  if (forward_target > 0) f.target_ms = forward_target, both.target_ms = both_target;

  const index_t checked = std::min<index_t>(rows, 64);
  const Operands<T>& o = operands[0];
  const auto x = first_rows(o.x, checked), z = first_rows(o.z, checked),
             y_bar = first_rows(o.y_bar, checked);
  const auto floats = to_host(w);
  const Array<double, 1> ws = [&] {
    Array<double, 1> to(floats.extents());
    std::copy(floats.begin(), floats.end(), to.begin());
    return to;
  }();
  Array<double, 2> y(x.extents()), x_bar(x.extents()), z_bar(x.extents());
  const View<const double, 2> xs(x), zs(z), bars(y_bar);
  const View<const double, 1> wv(ws);
  nn::gated_norm(exec::cpu{}, xs, zs, wv, options, y.view());
  GatedNormOptions added = options;
  added.accumulate = true;
  nn::gated_norm_vjp(exec::cpu{}, xs, zs, wv, added, bars, x_bar.view(), z_bar.view(), {});
  f.error = error_of(first_rows(o.y, checked), y);
  b.error = std::max(error_of(first_rows(o.x_bar, checked), x_bar),
                     error_of(first_rows(o.z_bar, checked), z_bar));
  table.push_back(f), table.push_back(b), table.push_back(both);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "gated norm", [](Context& context, std::vector<Row>& rows) {
    GatedNormOptions o;
    o.accumulate = false;
    measure<bf16>(context, rows, 32768, 2048, o, 0.14, 0.45);
    o.gate = nn::Gate::before;
    measure<bf16>(context, rows, 32768, 2048, o, 0.14, 0.45);
    measure<float>(context, rows, 32768, 2048, o, 0, 0);
    o.group = 256;
    measure<bf16>(context, rows, 32768, 2048, o, 0, 0);
    o.group = 0;
    measure<bf16>(context, rows, 32768, 768, o, 0, 0);
    measure<bf16>(context, rows, 8192, 8192, o, 0, 0);
  });
}
