#include "structmat/nn/conv1d.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/core/error.hpp"
#include "support/gradient.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::Random;

namespace {

struct Case {
  index_t batch, length, channels, taps;
  Array<double, 3> x, initial;
  Array<double, 2> weight;
  Array<double, 1> bias;
  index_t ahead = 0;
  Activation activation = Activation::silu;
  std::vector<index_t> starts{};

  Case(index_t batch_, index_t length_, index_t channels_, index_t taps_, unsigned seed,
       index_t sequences = 0)
      : batch(batch_), length(length_), channels(channels_), taps(taps_) {
    Random random(seed);
    x = random.array<double, 3>({batch, length, channels});
    initial = random.array<double, 3>({sequences > 0 ? sequences : batch, channels, taps - 1});
    weight = random.array<double, 2>({channels, taps});
    bias = random.array<double, 1>({channels});
  }
  Conv1dView<double> filter() const {
    Conv1dView<double> m{weight, bias, ahead, activation};
    if (!starts.empty()) m.starts = Starts<>(starts);
    return m;
  }
  Conv1dInput<double> input() const {
    return {x, ahead == 0 ? initial.view() : View<const double, 3>()};
  }
  /// Token s of the padded entry b, beginning at `begin`.
  double at(index_t b, index_t c, index_t s, index_t end) const {
    if (s >= end) return 0;
    if (s >= 0) return x(b, s, c);
    return ahead == 0 && s >= -(taps - 1) ? initial(b, c, taps - 1 + s) : 0;
  }
};

struct Result {
  Array<double, 3> y, final_state;
};
Result run(const Case& k) {
  Result r{Array<double, 3>(k.x.extents()), Array<double, 3>(k.initial.extents())};
  Conv1dOutput<double> out{r.y};
  if (k.ahead == 0) out.final_state = r.final_state;
  apply(exec::cpu{}, k.filter(), k.input(), out);
  return r;
}
bool same(const auto& a, const auto& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

TEST_CASE("short convolutions by their definition", "[nn][conv1d]") {
  const index_t taps = GENERATE(1, 2, 4, 7, 8), length = GENERATE(0, 1, 2, 3, 20);
  Case k(2, length, 70, taps, 1);
  k.ahead = GENERATE(0, 1, 3);
  if (k.ahead >= taps) return;
  k.activation = GENERATE(Activation::none, Activation::silu);
  const Result r = run(k);
  double worst = 0;
  for (index_t b = 0; b < 2; ++b) {
    for (index_t c = 0; c < 70; ++c) {
      for (index_t t = 0; t < length; ++t) {
        double sum = k.bias(c);
        for (index_t j = 0; j < taps; ++j) {
          sum += k.weight(c, j) * k.at(b, c, t - (taps - 1 - k.ahead) + j, length);
        }
        if (k.activation == Activation::silu) sum /= 1 + std::exp(-sum);
        worst = std::max(worst, std::abs(sum - r.y(b, t, c)));
      }
      for (index_t j = 0; k.ahead == 0 && j + 1 < taps; ++j) {
        worst = std::max(
            worst, std::abs(k.at(b, c, length - (taps - 1) + j, length) - r.final_state(b, c, j)));
      }
    }
  }
  CHECK(worst <= 1e-14);
}

TEST_CASE("cotangents of short convolutions by central differences", "[nn][conv1d]") {
  const auto [length, taps, ahead] = GENERATE(table<index_t, index_t, index_t>(
      {{1, 1, 0}, {1, 4, 0}, {2, 4, 0}, {9, 4, 0}, {9, 7, 3}, {2, 7, 3}}));
  Case k(2, length, 3, taps, 5);
  k.ahead = ahead;
  Random random(6);
  const auto y_bar = random.array<double, 3>(k.x.extents());
  const auto final_bar = random.array<double, 3>(k.initial.extents());
  const auto loss = [&] {
    const Result r = run(k);
    return test::inner(y_bar, r.y) + (k.ahead == 0 ? test::inner(final_bar, r.final_state) : 0);
  };
  Array<double, 3> x_bar(k.x.extents()), initial_bar(k.initial.extents());
  Array<double, 2> weight_bar(k.weight.extents());
  Array<double, 1> bias_bar(k.bias.extents());
  Conv1dCotangent<double> bar{x_bar, weight_bar, bias_bar};
  View<const double, 3> of_final;
  if (k.ahead == 0) bar.initial_state = initial_bar, of_final = final_bar;
  apply_vjp(exec::cpu{}, k.filter(), k.input(), View<const double, 3>(y_bar), of_final, bar);
  test::check_gradient("x", k.x, x_bar, loss);
  test::check_gradient("weight", k.weight, weight_bar, loss);
  test::check_gradient("bias", k.bias, bias_bar, loss);
  if (k.ahead == 0) test::check_gradient("initial_state", k.initial, initial_bar, loss);
}

TEST_CASE("short convolutions in pieces and packed", "[nn][conv1d]") {
  const Case k(1, 20, 5, 4, 7);
  const Result whole = run(k);
  Array<double, 3> y(k.x.extents()), from = k.initial, to(k.initial.extents());
  // Pieces shorter than the filter.
  const index_t pieces[] = {0, 1, 3, 3, 5, 20};
  for (int i = 0; i < 5; ++i) {
    apply(exec::cpu{}, k.filter(),
          Conv1dInput<double>{k.x.view().slice(1, pieces[i], pieces[i + 1]), from},
          Conv1dOutput<double>{y.view().slice(1, pieces[i], pieces[i + 1]), to});
    from = to;
  }
  CHECK(same(y, whole.y));
  CHECK(same(to, whole.final_state));

  // Token by token, the state in place.
  Array<double, 3> state = k.initial, steps(k.x.extents());
  for (index_t t = 0; t <= 20; ++t) {
    apply(exec::cpu{}, k.filter(),
          Conv1dInput<double>{k.x.view().slice(1, t, std::min<index_t>(t + 1, 20)), state},
          Conv1dOutput<double>{steps.view().slice(1, t, std::min<index_t>(t + 1, 20)), state});
  }
  CHECK(same(steps, whole.y));
  CHECK(same(state, whole.final_state));

  Case packed(1, 20, 5, 4, 8, 4);
  packed.starts = {0, 2, 2, 9, 20};
  const Result together = run(packed);
  for (index_t s = 0; s < 4; ++s) {
    const index_t begin = packed.starts[s], end = packed.starts[s + 1];
    Conv1dView<double> m = packed.filter();
    m.starts = {};
    Array<double, 3> alone({1, end - begin, 5}), last({1, 5, 3});
    apply(exec::cpu{}, m,
          Conv1dInput<double>{packed.x.view().slice(1, begin, end),
                              packed.initial.view().slice(0, s, s + 1)},
          Conv1dOutput<double>{alone, last});
    CHECK(same(alone, to_array(together.y.view().slice(1, begin, end))));
    CHECK(same(last, to_array(together.final_state.view().slice(0, s, s + 1))));
  }
}

TEST_CASE("short convolutions refuse what does not fit", "[nn][conv1d]") {
  Case k(2, 10, 3, 4, 9);
  Array<double, 3> y(k.x.extents());
  const auto call = [&](const Conv1dView<double>& m, const Conv1dInput<double>& in) {
    apply(exec::cpu{}, m, in, Conv1dOutput<double>{y});
  };
  Conv1dView<double> m = k.filter();
  m.ahead = 4;
  CHECK_THROWS_WITH(call(m, {k.x}), "nn::conv1d::apply: 4 of 4 taps ahead");
  m.ahead = 1;
  CHECK_THROWS_WITH(call(m, k.input()),
                    "nn::conv1d::apply: initial_state of a filter with 1 taps ahead, only causal "
                    "ones have a state");
  const Array<double, 2> wide({3, 9});
  CHECK_THROWS_WITH(call({wide}, {k.x}), "nn::conv1d::apply: filters of 9 taps, expected 1 to 8");
  const Array<double, 2> other({4, 4});
  CHECK_THROWS_WITH(call({other}, {k.x}), "nn::conv1d::apply: weight is 4 x 4, expected 3 x 4");
  CHECK_THROWS_AS(apply(exec::cpu{}, k.filter(), k.input(), Conv1dOutput<double>{k.x}),
                  DomainError);
}
