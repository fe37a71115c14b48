#include "structmat/nn/quasiseparable_mixer.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/verify/rank_profile.hpp"
#include "support/gradient.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::Random;

namespace {

struct Case {
  index_t batch, length, heads, channels, groups, states;
  Array<double, 4> x, b[2], c[2], initial[2];
  Array<double, 3> dt[2], delta;
  Array<double, 1> a, bias;
  Array<double, 2> d;
  bool shift = true, diagonal = true, starting = true;
  std::vector<index_t> starts{};

  Case(index_t batch_, index_t length_, index_t heads_, index_t channels_, index_t groups_,
       index_t states_, unsigned seed, index_t sequences = 0)
      : batch(batch_),
        length(length_),
        heads(heads_),
        channels(channels_),
        groups(groups_),
        states(states_) {
    Random random(seed);
    x = random.array<double, 4>({batch, length, heads, channels});
    for (int i = 0; i < 2; ++i) {
      b[i] = random.array<double, 4>({batch, length, groups, states});
      c[i] = random.array<double, 4>({batch, length, groups, states});
      dt[i] = random.array<double, 3>({batch, length, heads});
      initial[i] =
          random.array<double, 4>({sequences > 0 ? sequences : batch, heads, channels, states});
    }
    delta = random.array<double, 3>({batch, length, heads});
    a = random.array<double, 1>({heads});
    for (double& v : a) v = -0.1 - std::abs(v);
    bias = random.array<double, 1>({heads});
    d = random.array<double, 2>({heads, channels});
  }

  QuasiseparableMixerView<double> matrix() const {
    QuasiseparableMixerView<double> m{{dt[0], b[0], c[0]}, {dt[1], b[1], c[1]}, a};
    if (starting) m.forward.initial_state = initial[0], m.backward.initial_state = initial[1];
    if (diagonal) m.delta = delta, m.d = d;
    m.dt_bias = bias;
    m.shift = shift;
    if (!starts.empty()) m.starts = Starts<>(starts);
    return m;
  }

  double step(int way, index_t e, index_t t, index_t h) const {
    return std::log1p(std::exp(dt[way](e, t, h) + bias(h)));
  }
  /// Entry (i, j) of the matrix of a head from its formula, without D.
  double entry(index_t e, index_t h, index_t i, index_t j) const {
    const index_t g = h / (heads / groups);
    const auto product = [&](int way, index_t query, index_t begin, index_t end) {
      double dot = 0, exponent = 0;
      for (index_t n = 0; n < states; ++n) dot += c[way](e, query, g, n) * b[way](e, j, g, n);
      for (index_t k = begin; k < end; ++k) exponent += step(way, e, k, h) * a(h);
      return dot * step(way, e, j, h) * std::exp(exponent);
    };
    double v = 0;
    const index_t s = shift ? 1 : 0;
    if (i - s >= j) v += product(0, i - s, j + 1, i - s + 1);
    if (i + s <= j) v += product(1, i + s, i + s, j);
    if (i == j && diagonal) v += delta(e, i, h);
    return v;
  }
};

Array<double, 4> run(const Case& k) {
  Array<double, 4> y(k.x.extents());
  apply(exec::cpu{}, k.matrix(), View<const double, 4>(k.x), y.view());
  return y;
}

struct Bars {
  explicit Bars(const Case& k)
      : x(k.x.extents()),
        delta(k.delta.extents()),
        a(k.a.extents()),
        bias(k.bias.extents()),
        d(k.d.extents()) {
    for (int i = 0; i < 2; ++i) {
      b[i] = Array<double, 4>(k.b[i].extents()), c[i] = Array<double, 4>(k.c[i].extents());
      dt[i] = Array<double, 3>(k.dt[i].extents());
      initial[i] = Array<double, 4>(k.initial[i].extents());
    }
  }
  QuasiseparableMixerCotangent<double> view() {
    return {x, {dt[0], b[0], c[0], initial[0]}, {dt[1], b[1], c[1], initial[1]}, a, delta, d, bias};
  }
  Array<double, 4> x, b[2], c[2], initial[2];
  Array<double, 3> dt[2], delta;
  Array<double, 1> a, bias;
  Array<double, 2> d;
};

Array<double, 2> dense(const Case& k, index_t h) {
  Array<double, 2> m({k.length, k.length});
  for (index_t i = 0; i < k.length; ++i) {
    for (index_t j = 0; j < k.length; ++j) m(i, j) = k.entry(0, h, i, j);
  }
  return m;
}

bool same(const auto& a, const auto& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

TEST_CASE("the matrix of the quasiseparable mixer by its formula", "[nn][quasiseparable_mixer]") {
  const index_t length = GENERATE(1, 2, 3, 63, 64, 65, 66, 150);
  Case k(1, length, 2, 5, 1, 4, 1);
  k.shift = GENERATE(true, false), k.diagonal = GENERATE(true, false), k.starting = false;
  const Array<double, 4> y = run(k);
  double worst = 0;
  for (index_t h = 0; h < 2; ++h) {
    const Array<double, 2> m = dense(k, h);
    for (index_t i = 0; i < length; ++i) {
      for (index_t p = 0; p < 5; ++p) {
        double sum = k.diagonal ? k.d(h, p) * k.x(0, i, h, p) : 0, size = std::abs(sum);
        for (index_t j = 0; j < length; ++j) {
          sum += m(i, j) * k.x(0, j, h, p), size += std::abs(m(i, j) * k.x(0, j, h, p));
        }
        worst = std::max(worst, std::abs(sum - y(0, i, h, p)) / (size + 1e-300));
      }
    }
  }
  CHECK(worst <= 8 * double(length + 4) * epsilon<double>);
}

TEST_CASE("orders of the matrix of the mixer", "[nn][quasiseparable_mixer]") {
  Case k(1, 40, 1, 1, 1, 3, 2);
  const auto shifted = verify::quasiseparable(dense(k, 0));
  CHECK(shifted.order.lower == 3);
  CHECK(shifted.order.upper == 3);
}

TEST_CASE("known results of the shift", "[nn][quasiseparable_mixer]") {
  Case k(1, 4, 1, 1, 1, 1, 3);
  const double x[] = {1, 2, 4, 8};
  for (index_t t = 0; t < 4; ++t) {
    k.x(0, t, 0, 0) = x[t];
    for (int i = 0; i < 2; ++i) k.b[i](0, t, 0, 0) = k.c[i](0, t, 0, 0) = k.dt[i](0, t, 0) = 1;
  }
  k.a(0) = 0;
  QuasiseparableMixerView<double> m = k.matrix();
  m.forward.initial_state = m.backward.initial_state = {};
  m.softplus = false, m.dt_bias = {}, m.delta = {}, m.d = {};
  Array<double, 4> y(k.x.extents());
  const auto results = [&] {
    apply(exec::cpu{}, m, View<const double, 4>(k.x), y.view());
    return std::vector<double>(y.begin(), y.end());
  };
  CHECK(results() == std::vector<double>{14, 13, 11, 7});
  Array<double, 2> one({1, 1});
  one(0, 0) = 1;
  m.d = one;
  CHECK(results() == std::vector<double>{15, 15, 15, 15});
  m.d = {}, m.shift = false;
  CHECK(results() == std::vector<double>{16, 17, 19, 23});
  m.shift = true;
  const std::vector<index_t> starts{0, 3, 4};
  m.starts = Starts<>(starts);
  CHECK(results() == std::vector<double>{6, 5, 3, 0});
}

TEST_CASE("cotangents of the mixer by central differences", "[nn][quasiseparable_mixer]") {
  const auto [length, channels, groups, states] =
      GENERATE(table<index_t, index_t, index_t, index_t>(
          {{1, 1, 1, 1}, {2, 2, 1, 1}, {7, 3, 1, 2}, {66, 2, 2, 3}}));
  Case k(2, length, 2, channels, groups, states, 5);
  k.shift = GENERATE(true, false);
  const auto y_bar = Random(6).array<double, 4>(k.x.extents());
  const auto loss = [&] { return test::inner(y_bar, run(k)); };
  Bars bars(k);
  apply_vjp(exec::cpu{}, k.matrix(), View<const double, 4>(k.x), View<const double, 4>(y_bar),
            bars.view());
  test::check_gradient("x", k.x, bars.x, loss);
  for (int i = 0; i < 2; ++i) {
    test::check_gradient("dt", k.dt[i], bars.dt[i], loss);
    test::check_gradient("B", k.b[i], bars.b[i], loss);
    test::check_gradient("C", k.c[i], bars.c[i], loss);
    test::check_gradient("initial_state", k.initial[i], bars.initial[i], loss);
  }
  test::check_gradient("delta", k.delta, bars.delta, loss);
  test::check_gradient("a", k.a, bars.a, loss, 1e-7);
  test::check_gradient("D", k.d, bars.d, loss);
  test::check_gradient("dt_bias", k.bias, bars.bias, loss, 1e-7);
}

TEST_CASE("packed sequences do not see each other", "[nn][quasiseparable_mixer]") {
  Case k(1, 140, 2, 3, 1, 4, 12, 4);
  k.starts = {0, 70, 70, 71, 140};
  const Array<double, 4> packed = run(k);
  const auto y_bar = Random(13).array<double, 4>(k.x.extents());
  Bars bars(k);
  apply_vjp(exec::cpu{}, k.matrix(), View<const double, 4>(k.x), View<const double, 4>(y_bar),
            bars.view());
  for (index_t s = 0; s < 4; ++s) {
    const index_t begin = k.starts[s], end = k.starts[s + 1];
    QuasiseparableMixerView<double> m = k.matrix();
    m.starts = {};
    for (auto* way : {&m.forward, &m.backward}) {
      way->dt = way->dt.slice(1, begin, end), way->b = way->b.slice(1, begin, end);
      way->c = way->c.slice(1, begin, end);
      way->initial_state = way->initial_state.slice(0, s, s + 1);
    }
    m.delta = m.delta.slice(1, begin, end);
    const View<const double, 4> x = k.x.view().slice(1, begin, end);
    Array<double, 4> y(x.extents()), x_bar(x.extents());
    apply(exec::cpu{}, m, x, y.view());
    QuasiseparableMixerCotangent<double> bar{x_bar};
    apply_vjp(exec::cpu{}, m, x, View<const double, 4>(y_bar.view().slice(1, begin, end)), bar);
    CHECK(same(y, to_array(packed.view().slice(1, begin, end))));
    CHECK(same(x_bar, to_array(bars.x.view().slice(1, begin, end))));
  }
}

TEST_CASE("the mixer refuses what does not fit", "[nn][quasiseparable_mixer]") {
  const Case k(2, 10, 4, 3, 2, 5, 51);
  Array<double, 4> y(k.x.extents());
  QuasiseparableMixerView<double> m = k.matrix();
  m.backward.c = m.backward.c.slice(3, 0, 4);
  CHECK_THROWS_WITH(
      apply(exec::cpu{}, m, View<const double, 4>(k.x), y.view()),
      "nn::quasiseparable_mixer::apply, backward: C is 2 x 10 x 2 x 4, expected 2 x 10 x 2 x 5");
  m = k.matrix(), m.delta = m.delta.slice(2, 0, 3);
  CHECK_THROWS_WITH(apply(exec::cpu{}, m, View<const double, 4>(k.x), y.view()),
                    "nn::quasiseparable_mixer::apply: delta is 2 x 10 x 3, expected 2 x 10 x 4");
}
