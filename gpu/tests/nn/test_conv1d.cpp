// Short convolutions on the device: against those of the CPU in double, and against themselves.
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

#include "structmat/core/error.hpp"
#include "structmat/nn/conv1d.hpp"
#include "support/fixed_shape.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::quick;
using structmat::test::Random;

namespace {

using Cuda = space::cuda;

/// Relative rounding of what is stored.
template <class T>
constexpr double eps = sizeof(T) == 2 ? 0x1p-8 : 0x1p-23;

template <class T, int Rank>
Array<T, Rank> stored(const Array<double, Rank>& from) {
  Array<T, Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(),
                 [](double v) { return static_cast<T>(static_cast<float>(v)); });
  return to;
}
template <class T, int Rank>
Array<double, Rank> doubles(const Array<T, Rank>& from) {
  Array<double, Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(),
                 [](T v) { return static_cast<double>(static_cast<float>(v)); });
  return to;
}
bool same(const auto& a, const auto& b) {
  return a.extents() == b.extents() &&
         std::memcmp(a.data(), b.data(), sizeof(*a.data()) * static_cast<std::size_t>(a.size())) == 0;
}
/// |a - b| <= tolerance (1 + |b|) in all places.
template <class T, int Rank>
void check_close(const Array<T, Rank>& a, const Array<double, Rank>& b, double tolerance) {
  REQUIRE(a.extents() == b.extents());
  double worst = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double v = static_cast<double>(static_cast<float>(a.data()[i])), w = b.data()[i];
    const double error = std::abs(v - w) / (1 + std::abs(w));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  CHECK(worst <= tolerance);
}

Array<std::byte, 1, Cuda> junk(index_t bytes) {
  Array<std::byte, 1> host({bytes});
  std::fill(host.begin(), host.end(), std::byte{0xff});
  return to_device(host);
}

/// Operands that T can hold.
template <class T>
struct Case {
  Array<T, 3> x, y_bar;
  Array<float, 3> initial, final_bar;
  Array<float, 2> weight;
  Array<float, 1> bias;
  index_t ahead = 0;
  Activation activation = Activation::silu;
  std::vector<index_t> starts{};
  bool with_bias = true, with_state = true;

  Case(index_t batch, index_t length, index_t channels, index_t taps, unsigned seed,
       index_t sequences = -1) {
    Random random(seed);
    const index_t count = sequences < 0 ? batch : sequences;
    x = stored<T>(random.array<double, 3>({batch, length, channels}));
    y_bar = stored<T>(random.array<double, 3>({batch, length, channels}));
    initial = stored<float>(random.array<double, 3>({count, channels, taps - 1}));
    final_bar = stored<float>(random.array<double, 3>({count, channels, taps - 1}));
    weight = stored<float>(random.array<double, 2>({channels, taps}));
    bias = stored<float>(random.array<double, 1>({channels}));
  }
  bool states() const { return with_state && ahead == 0; }
};

template <class T>
struct Result {
  Array<T, 3> y, x_bar;
  Array<float, 3> final_state, initial_bar;
  Array<float, 2> weight_bar;
  Array<float, 1> bias_bar;
};
/// What cotangents are before they are added to or set.
constexpr float before = 0.25f;

template <class T>
Result<T> run(const Case<T>& k, bool accumulate = false, const exec::cuda& on = {}) {
  const auto x = to_device(k.x), y_bar = to_device(k.y_bar);
  const auto initial = to_device(k.initial), final_bar = to_device(k.final_bar);
  const auto weight = to_device(k.weight);
  const auto bias = to_device(k.bias);
  Array<index_t, 1> host_starts({static_cast<index_t>(k.starts.size())});
  std::copy(k.starts.begin(), k.starts.end(), host_starts.begin());
  const auto starts = to_device(host_starts);
  Conv1dView<T, Cuda> m{weight, {}, k.ahead, k.activation};
  if (k.with_bias) m.bias = bias;
  if (!k.starts.empty()) m.starts = starts;
  Conv1dInput<T, Cuda> in{x};
  Array<T, 3> old_x(k.x.extents());
  std::fill(old_x.begin(), old_x.end(), T(before));
  Array<float, 3> old_state(k.initial.extents());
  Array<float, 2> old_weight(k.weight.extents());
  Array<float, 1> old_bias(k.bias.extents());
  std::fill(old_state.begin(), old_state.end(), before);
  std::fill(old_weight.begin(), old_weight.end(), before);
  std::fill(old_bias.begin(), old_bias.end(), before);
  auto y = to_device(old_x), x_bar = to_device(old_x);
  auto final_state = to_device(old_state), initial_bar = to_device(old_state);
  auto weight_bar = to_device(old_weight);
  auto bias_bar = to_device(old_bias);
  Conv1dOutput<T, Cuda> out{y};
  Conv1dCotangent<T, Cuda> bar{x_bar, weight_bar, bias_bar, {}, accumulate};
  View<const float, 3, Cuda> of_final;
  if (k.states()) {
    in.initial_state = initial, out.final_state = final_state;
    bar.initial_state = initial_bar, of_final = final_bar;
  }
  exec::cuda e = on;
  const auto forward = junk(apply_workspace_bytes(m, in)),
             reverse = junk(apply_vjp_workspace_bytes(m, in));
  e.workspace = View<std::byte, 1, Cuda>(const_cast<std::byte*>(forward.data()), forward.extents());
  apply(e, m, in, out);
  e.workspace = View<std::byte, 1, Cuda>(const_cast<std::byte*>(reverse.data()), reverse.extents());
  apply_vjp(e, m, in, View<const T, 3, Cuda>(y_bar), of_final, bar);
  device_synchronize();
  return {to_host(y),           to_host(x_bar),      to_host(final_state),
          to_host(initial_bar), to_host(weight_bar), to_host(bias_bar)};
}

/// Against the CPU in double, for operands that are the same numbers.
template <class T>
void check_against_host(const Case<T>& k, bool accumulate = false) {
  CAPTURE(k.x.extents(), k.weight.extent(1), k.ahead, k.starts.size(), sizeof(T), accumulate);
  const auto x = doubles(k.x), y_bar = doubles(k.y_bar), initial = doubles(k.initial),
             final_bar = doubles(k.final_bar);
  const auto weight = doubles(k.weight);
  const auto bias = doubles(k.bias);
  Conv1dView<double> m{weight, {}, k.ahead, k.activation};
  if (k.with_bias) m.bias = bias;
  if (!k.starts.empty()) m.starts = Starts<>(k.starts);
  Conv1dInput<double> in{x};
  const double old = accumulate ? before : 0;
  Array<double, 3> y(x.extents()), x_bar(x.extents()), final_state(initial.extents()),
      initial_bar(initial.extents());
  Array<double, 2> weight_bar(weight.extents());
  Array<double, 1> bias_bar(bias.extents());
  std::fill(x_bar.begin(), x_bar.end(), old);
  std::fill(initial_bar.begin(), initial_bar.end(), old);
  std::fill(weight_bar.begin(), weight_bar.end(), old);
  std::fill(bias_bar.begin(), bias_bar.end(), old);
  Conv1dOutput<double> out{y};
  Conv1dCotangent<double> bar{x_bar, weight_bar, bias_bar};
  View<const double, 3> of_final;
  if (k.states()) {
    in.initial_state = initial, out.final_state = final_state;
    bar.initial_state = initial_bar, of_final = final_bar;
  }
  apply(exec::cpu{}, m, in, out);
  apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), of_final, bar);
  const Result<T> r = run(k, accumulate);
  // Sums of W products of numbers of at most 1, and silu of them.
  const double tolerance = 2 * eps<T> + 16 * eps<float>;
  check_close(r.y, y, tolerance);
  check_close(r.x_bar, x_bar, tolerance);
  // Sums over all tokens.
  const double in_sums = 16 * eps<float> * (1 + std::sqrt(double(x.extent(0) * x.extent(1))));
  check_close(r.weight_bar, weight_bar, in_sums);
  check_close(r.bias_bar, bias_bar, in_sums);
  if (!k.states()) return;
  check_close(r.final_state, final_state, 0);
  check_close(r.initial_bar, initial_bar, 16 * eps<float>);
}

}  // namespace

TEMPLATE_TEST_CASE("short convolutions as on the CPU", "[nn_conv1d]", float, bf16) {
  for (const index_t taps : {1, 2, 3, 4, 5, 6, 7, 8}) {
    for (const index_t length : {1, 2, 7, 32, 33, 130}) {
      Case<TestType> k(2, length, 16, taps, 1);
      check_against_host(k);
      k.ahead = taps / 2;
      k.activation = Activation::none;
      check_against_host(k, true);
    }
  }
}

TEMPLATE_TEST_CASE("channels and batches of any number", "[nn_conv1d]", float, bf16) {
  for (const index_t channels : {1, 7, 8, 30, 264, quick() ? 320 : 2304}) {
    Case<TestType> k(3, 70, channels, 4, 2);
    check_against_host(k, true);
    k.ahead = 1, k.with_bias = false;
    check_against_host(k);
  }
  for (const index_t batch : {0, 1, 5}) {
    for (const index_t length : {0, 3}) check_against_host(Case<TestType>(batch, length, 8, 4, 3));
  }
  check_against_host(Case<TestType>(2, 5, 0, 4, 3));
}
