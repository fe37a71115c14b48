// Short convolutions on the device: against those of the CPU in double, and against themselves.
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

#include "structmat/core/error.hpp"
#include "structmat/nn/conv1d.hpp"
#include "support/fixed_shape.hpp"
#include "support/random.hpp"
#include "support/storage.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::check_close, structmat::test::doubles, structmat::test::eps;
using structmat::test::quick, structmat::test::Random;
using structmat::test::same, structmat::test::stored;

namespace {

using Cuda = space::cuda;

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

TEMPLATE_TEST_CASE("short convolutions of packed sequences see nothing of each other",
                   "[nn_conv1d]", float, bf16) {
  // Empty ones, one token, shorter than the filter, and longer than a thread's tokens.
  const std::vector<index_t> starts = {0, 0, 2, 3, 3, 36, 170, 172, 172};
  const index_t sequences = static_cast<index_t>(starts.size()) - 1;
  const auto rows = [](const auto& from, int dimension, index_t begin, index_t end) {
    return to_array(from.view().slice(dimension, begin, end));
  };
  for (const index_t taps : {1, 4, 7}) {
    for (const index_t ahead : {index_t(0), taps / 2}) {
      Case<TestType> k(1, 172, 24, taps, 4, sequences);
      k.starts = starts, k.ahead = ahead;
      check_against_host(k);
      const auto together = run(k);
      for (index_t s = 0; s < sequences; ++s) {
        const index_t begin = starts[s], end = starts[s + 1];
        CAPTURE(taps, ahead, s);
        Case<TestType> alone = k;
        alone.starts = {};
        alone.x = rows(k.x, 1, begin, end), alone.y_bar = rows(k.y_bar, 1, begin, end);
        alone.initial = rows(k.initial, 0, s, s + 1);
        alone.final_bar = rows(k.final_bar, 0, s, s + 1);
        const auto r = run(alone);
        CHECK(same(r.y, rows(together.y, 1, begin, end)));
        CHECK(same(r.x_bar, rows(together.x_bar, 1, begin, end)));
        if (ahead > 0) continue;
        CHECK(same(r.final_state, rows(together.final_state, 0, s, s + 1)));
        CHECK(same(r.initial_bar, rows(together.initial_bar, 0, s, s + 1)));
      }
    }
  }
}

TEST_CASE("starts that make no sense keep memory safe", "[nn_conv1d]") {
  Case<float> k(1, 50, 8, 4, 5, 4);
  k.starts = {7, -3, 60, 20, 1000};
  Case<float> meant = k;
  meant.starts = {0, 0, 50, 50, 50};
  CHECK(same(run(k).y, run(meant).y));
  k.starts = {0};
  k.initial = k.final_bar = Array<float, 3>({0, 8, 3});
  CHECK_THROWS_WITH(run(k), "nn::conv1d::apply_workspace_bytes: no sequences in 50 tokens");
}

TEST_CASE("short convolutions in pieces, the state in place", "[nn_conv1d]") {
  const index_t taps = GENERATE(2, 4, 8), channels = GENERATE(8, 9);
  const Case<bf16> k(2, 90, channels, taps, 6);
  const auto whole = run(k);
  const auto x = to_device(k.x);
  const auto weight = to_device(k.weight);
  const auto bias = to_device(k.bias);
  const Conv1dView<bf16, Cuda> m{weight, bias, 0, k.activation};
  auto state = to_device(k.initial);
  Array<bf16, 3, Cuda> y(k.x.extents());
  // A prefill, none, steps, pieces shorter than the filter, one longer than a thread's tokens.
  const index_t ends[] = {3, 3, 4, 5, 7, 10, 45, 85, 90};
  index_t begin = 0;
  for (const index_t end : ends) {
    apply(exec::cuda{}, m, Conv1dInput<bf16, Cuda>{x.view().slice(1, begin, end), state},
          Conv1dOutput<bf16, Cuda>{y.view().slice(1, begin, end), state});
    begin = end;
  }
  device_synchronize();
  CHECK(same(to_host(y), whole.y));
  CHECK(same(to_host(state), whole.final_state));
}

TEMPLATE_TEST_CASE("short convolutions of slices and of any strides", "[nn_conv1d]", float, bf16) {
  // x and y are slices of rows of 35072 numbers, aligned or not; weights and states lie apart.
  const index_t channels = 24, length = 40, row = quick() ? 352 : 35072;
  const Case<TestType> k(2, length, channels, 4, 7);
  const auto plain = run(k);
  const auto weight = to_device(k.weight);
  const auto bias = to_device(k.bias), initial_bias = to_device(k.bias);
  const auto initial = to_device(k.initial), final_bar = to_device(k.final_bar);
  const auto spread = [&](const Array<TestType, 3>& from, index_t offset, index_t step) {
    Array<TestType, 3> wide({2, length, row});
    for (index_t b = 0; b < 2; ++b) {
      for (index_t t = 0; t < length; ++t) {
        for (index_t c = 0; c < channels; ++c) wide(b, t, offset + c * step) = from(b, t, c);
      }
    }
    return to_device(wide);
  };
  const auto part = [&](const auto& wide, index_t offset, index_t step) {
    auto* first = const_cast<TestType*>(wide.data()) + offset;
    return View<TestType, 3, Cuda>(first, {2, length, channels}, {length * row, row, step});
  };
  const std::array<index_t, 2> layouts[] = {{32, 1}, {33, 1}, {4, 3}, {100, -2}};
  for (const auto& [offset, step] : layouts) {
    CAPTURE(offset, step);
    const auto x = spread(k.x, offset, step), y_bar = spread(k.y_bar, offset, step);
    auto y = spread(k.x, offset, step), x_bar = spread(k.x, offset, step);
    Array<float, 2, Cuda> weight_bar(k.weight.extents());
    Array<float, 1, Cuda> bias_bar(k.bias.extents());
    Array<float, 3, Cuda> final_state(k.initial.extents()), initial_bar(k.initial.extents());
    const Conv1dView<TestType, Cuda> m{weight, bias, 0, k.activation};
    const Conv1dInput<TestType, Cuda> in{part(x, offset, step), initial};
    apply(exec::cuda{}, m, in, Conv1dOutput<TestType, Cuda>{part(y, offset, step), final_state});
    auto workspace = junk(apply_vjp_workspace_bytes(m, in));
    apply_vjp(exec::cuda{nullptr, workspace}, m, in,
              View<const TestType, 3, Cuda>(part(y_bar, offset, step)),
              View<const float, 3, Cuda>(final_bar),
              Conv1dCotangent<TestType, Cuda>{part(x_bar, offset, step), weight_bar, bias_bar,
                                              initial_bar, false});
    device_synchronize();
    CHECK(same(to_host(y), to_host(spread(plain.y, offset, step))));
    CHECK(same(to_host(x_bar), to_host(spread(plain.x_bar, offset, step))));
    CHECK(same(to_host(final_state), plain.final_state));
    CHECK(same(to_host(initial_bar), plain.initial_bar));
    // In vectors or not, sums are in another order.
    check_close(to_host(weight_bar), doubles(plain.weight_bar), 64 * eps<float>);
    check_close(to_host(bias_bar), doubles(plain.bias_bar), 64 * eps<float>);
  }
  // Tokens in the opposite order: a causal filter of reversed tokens.
  Case<TestType> turned = k;
  turned.x = to_array(k.x.view().reversed(1));
  const auto x = to_device(turned.x);
  Array<TestType, 3, Cuda> y(k.x.extents());
  apply(exec::cuda{}, Conv1dView<TestType, Cuda>{weight, bias, 0, k.activation},
        Conv1dInput<TestType, Cuda>{x.view().reversed(1), initial},
        Conv1dOutput<TestType, Cuda>{y.view().reversed(1)});
  device_synchronize();
  CHECK(same(to_array(to_host(y).view().reversed(1)), plain.y));
}

TEMPLATE_TEST_CASE("short convolutions repeat, and a sample does not depend on its batch",
                   "[nn_conv1d]", float, bf16) {
  const Case<TestType> k(quick() ? 3 : 9, 300, 40, 4, 8);
  const auto first = run(k);
  for (int i = 0; i < (quick() ? 2 : 30); ++i) {
    const auto again = run(k);
    REQUIRE(same(again.y, first.y));
    REQUIRE(same(again.x_bar, first.x_bar));
    REQUIRE(same(again.weight_bar, first.weight_bar));
    REQUIRE(same(again.bias_bar, first.bias_bar));
    REQUIRE(same(again.initial_bar, first.initial_bar));
  }
  Case<TestType> alone = k;
  const auto one = [](const auto& from) { return to_array(from.view().slice(0, 2, 3)); };
  alone.x = one(k.x), alone.y_bar = one(k.y_bar);
  alone.initial = one(k.initial), alone.final_bar = one(k.final_bar);
  const auto r = run(alone);
  CHECK(same(r.y, one(first.y)));
  CHECK(same(r.x_bar, one(first.x_bar)));
  CHECK(same(r.final_state, one(first.final_state)));
  CHECK(same(r.initial_bar, one(first.initial_bar)));
}

TEST_CASE("many sequences, and long ones", "[nn_conv1d]") {
  check_against_host(Case<bf16>(quick() ? 700 : 70000, 3, 8, 4, 9));
  check_against_host(Case<bf16>(1, quick() ? 3000 : 300001, 8, 4, 10));
  Case<float> packed(1, quick() ? 1500 : 150000, 8, 4, 11, quick() ? 700 : 70000);
  for (index_t s = 0; s <= packed.initial.extent(0); ++s) {
    packed.starts.push_back(std::min<index_t>(s * s % 5 + 2 * s, packed.x.extent(1)));
  }
  std::sort(packed.starts.begin(), packed.starts.end());
  packed.starts.back() = packed.x.extent(1);
  check_against_host(packed);
}

TEST_CASE("offsets beyond 32 bits in short convolutions", "[nn_conv1d]") {
  if (quick()) return;
  // Two samples 2^32 + 8 numbers apart, and tokens 2^25 apart: 2^25 64 = 2^31.
  const Case<bf16> k(2, 70, 8, 4, 12);
  const auto plain = run(k);
  const auto weight = to_device(k.weight);
  const auto bias = to_device(k.bias);
  const Conv1dView<bf16, Cuda> m{weight, bias, 0, k.activation};
  const index_t token = index_t(1) << 25, sample = 70 * token + 8;
  Array<bf16, 1, Cuda> x({2 * sample}, uninitialized), y({2 * sample}, uninitialized);
  const auto spread = [&](const Array<bf16, 3>& from, Array<bf16, 1, Cuda>& to) {
    for (index_t b = 0; b < 2; ++b) {
      for (index_t t = 0; t < 70; ++t) {
        structmat::detail::copy_host_to_device(to.data() + b * sample + t * token, &from(b, t, 0),
                                               8 * sizeof(bf16));
      }
    }
    return View<bf16, 3, Cuda>(to.data(), {2, 70, 8}, {sample, token, 1});
  };
  const auto gather = [&](const Array<bf16, 1, Cuda>& from) {
    Array<bf16, 3> to({2, 70, 8});
    for (index_t b = 0; b < 2; ++b) {
      for (index_t t = 0; t < 70; ++t) {
        structmat::detail::copy_device_to_host(&to(b, t, 0), from.data() + b * sample + t * token,
                                               8 * sizeof(bf16));
      }
    }
    return to;
  };
  const auto initial = to_device(k.initial), final_bar = to_device(k.final_bar);
  const Conv1dInput<bf16, Cuda> in{spread(k.x, x), initial};
  apply(exec::cuda{}, m, in, Conv1dOutput<bf16, Cuda>{spread(k.x, y)});
  device_synchronize();
  CHECK(same(gather(y), plain.y));
  const auto y_bar = to_device(k.y_bar);
  auto workspace = junk(apply_vjp_workspace_bytes(m, in));
  apply_vjp(exec::cuda{nullptr, workspace}, m, in, View<const bf16, 3, Cuda>(y_bar),
            View<const float, 3, Cuda>(final_bar),
            Conv1dCotangent<bf16, Cuda>{spread(k.x, y), {}, {}, {}, false});
  device_synchronize();
  CHECK(same(gather(y), plain.x_bar));
}

TEST_CASE("NaN reaches what depends on it", "[nn_conv1d]") {
  Case<float> k(1, 100, 8, 4, 13);
  k.activation = Activation::none;
  const auto clean = run(k);
  k.x(0, 50, 3) = NAN;
  const auto r = run(k);
  for (index_t t = 0; t < 100; ++t) {
    for (index_t c = 0; c < 8; ++c) {
      const bool reached = c == 3 && t >= 50 && t < 54;
      REQUIRE(std::isnan(r.y(0, t, c)) == reached);
      if (!reached) REQUIRE(r.y(0, t, c) == clean.y(0, t, c));
    }
  }
  CHECK(std::isnan(r.weight_bar(3, 0)));
  CHECK_FALSE(std::isnan(r.weight_bar(2, 0)));
}

TEST_CASE("short convolutions refuse what does not fit", "[nn_conv1d]") {
  const Case<float> k(2, 10, 8, 4, 14);
  auto x = to_device(k.x);
  const auto y_bar = to_device(k.y_bar);
  const auto weight = to_device(k.weight);
  Array<float, 3, Cuda> y(k.x.extents());
  Conv1dView<float, Cuda> m{weight};
  const Conv1dInput<float, Cuda> in{x};
  m.ahead = 4;
  CHECK_THROWS_WITH(apply(exec::cuda{}, m, in, Conv1dOutput<float, Cuda>{y}),
                    "nn::conv1d::apply: 4 of 4 taps ahead");
  m.ahead = 0;
  CHECK_THROWS_AS(apply(exec::cuda{}, m, in, Conv1dOutput<float, Cuda>{x}), DomainError);
  const View<float, 3, Cuda> shared(y.data(), {2, 10, 8}, {0, 8, 1});
  CHECK_THROWS_AS(apply(exec::cuda{}, m, in, Conv1dOutput<float, Cuda>{shared}), Unsupported);
  const auto reverse = [&](const Conv1dCotangent<float, Cuda>& bar) {
    auto workspace = junk(apply_vjp_workspace_bytes(m, in));
    apply_vjp(exec::cuda{nullptr, workspace}, m, in, View<const float, 3, Cuda>(y_bar), {}, bar);
  };
  CHECK_THROWS_AS(reverse({shared}), Unsupported);
  CHECK_THROWS_WITH(reverse({View<float, 3, Cuda>(const_cast<float*>(y_bar.data()), {2, 10, 8})}),
                    "nn::conv1d::apply_vjp: the cotangent of x overlaps y_bar in memory");
}

TEST_CASE("short convolutions have a fixed shape", "[nn_fixed_shape]") {
  Case<bf16> k(1, 70, 16, 4, 15, 3);
  const auto x = to_device(k.x), y_bar = to_device(k.y_bar);
  const auto initial = to_device(k.initial), final_bar = to_device(k.final_bar);
  const auto weight = to_device(k.weight);
  const auto bias = to_device(k.bias);
  Array<index_t, 1> host_starts({4});
  host_starts(1) = 2, host_starts(2) = 40, host_starts(3) = 70;
  const auto starts = to_device(host_starts);
  Conv1dView<bf16, Cuda> m{weight, bias, 0, Activation::silu};
  m.starts = starts;
  const Conv1dInput<bf16, Cuda> in{x, initial};
  Array<bf16, 3, Cuda> y(k.x.extents()), x_bar(k.x.extents());
  Array<float, 3, Cuda> final_state(k.initial.extents()), initial_bar(k.initial.extents());
  Array<float, 2, Cuda> weight_bar(k.weight.extents());
  Array<float, 1, Cuda> bias_bar(k.bias.extents());
  test::check_fixed_shape(
      "nn/conv1d.hpp apply Conv1d", apply_workspace_bytes(m, in),
      [&](const exec::cuda& e) {
        apply(e, m, in, Conv1dOutput<bf16, Cuda>{y, final_state});
      },
      y, final_state);
  test::check_fixed_shape(
      "nn/conv1d.hpp apply_vjp Conv1d", apply_vjp_workspace_bytes(m, in),
      [&](const exec::cuda& e) {
        apply_vjp(e, m, in, View<const bf16, 3, Cuda>(y_bar), View<const float, 3, Cuda>(final_bar),
                  Conv1dCotangent<bf16, Cuda>{x_bar, weight_bar, bias_bar, initial_bar});
      },
      x_bar, weight_bar, bias_bar, initial_bar);
}
