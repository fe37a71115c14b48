// Cotangents of layers that are set, whatever was there, against those added to zero.
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <vector>

#include "structmat/core/error.hpp"
#include "structmat/nn/conv1d.hpp"
#include "structmat/nn/gated_norm.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"
#include "structmat/nn/selective_scan.hpp"
#include "structmat/nn/ssd.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::Random;

namespace {

constexpr index_t batch = 2, length = 70, heads = 2, channels = 3, states = 4;

template <std::size_t Rank>
using Extents = std::array<index_t, Rank>;

/// Arrays that all begin with the same number.
struct Bars {
  explicit Bars(double value_) : value(value_) {}
  template <std::size_t Rank>
  View<double, static_cast<int>(Rank)> operator()(const Extents<Rank>& extents) {
    index_t size = 1;
    for (const index_t n : extents) size *= n;
    numbers.emplace_back(size, value);
    return {numbers.back().data(), extents};
  }
  std::vector<double> all() const {
    std::vector<double> v;
    for (const auto& n : numbers) v.insert(v.end(), n.begin(), n.end());
    return v;
  }
  double value;
  std::deque<std::vector<double>> numbers;
};

/// pull(bars, accumulate) takes its cotangents from bars.
template <class Pull>
void check_set(const Pull& pull) {
  const auto from = [&](double value, bool accumulate) {
    Bars bars(value);
    pull(bars, accumulate);
    return bars.all();
  };
  const std::vector<double> set = from(NAN, false), added = from(0, true), more = from(1, true);
  CHECK(set == added);
  double difference = 0;
  for (std::size_t i = 0; i < added.size(); ++i) {
    difference = std::max(difference, std::abs(more[i] - added[i] - 1));
  }
  CHECK(difference < 1e-10);
}

struct Operands {
  Random random{5};
  template <std::size_t Rank>
  Array<double, static_cast<int>(Rank)> operator()(const Extents<Rank>& extents) {
    return random.array<double, static_cast<int>(Rank)>(extents);
  }
  Array<double, 4> x = (*this)(Extents<4>{batch, length, heads, channels}),
                   y_bar = (*this)(x.extents());
  Array<double, 4> b = (*this)(Extents<4>{1, length, 1, states}),
                   c = (*this)(Extents<4>{batch, length, 1, states});
  Array<double, 3> dt = (*this)(Extents<3>{batch, length, heads});
  Array<double, 1> a = (*this)(Extents<1>{heads});
  Array<double, 4> state = (*this)(Extents<4>{batch, heads, channels, states});

  Operands() {
    for (double& v : a) v = -std::abs(v);
  }
};

}  // namespace

TEST_CASE("cotangents of SSD are set", "[nn][cotangents]") {
  const Operands o;
  const Array<double, 2> d = Random(6).array<double, 2>({heads, 1});
  SsdView<double> m{o.dt, o.a, o.b, o.c};
  m.d = View<const double, 2>(d).broadcast(1, channels);
  const SsdInput<double> in{o.x, o.y_bar, o.state};
  check_set([&](Bars& bars, bool accumulate) {
    SsdCotangent<double> bar{bars(o.x.extents()),
                             bars(o.x.extents()),
                             bars(o.dt.extents()),
                             bars(o.a.extents()),
                             bars(o.b.extents()),
                             bars(o.c.extents()),
                             bars(d.extents()).broadcast(1, channels),
                             bars(o.a.extents()),
                             bars(o.state.extents())};
    bar.accumulate = accumulate;
    apply_vjp(exec::cpu{}, m, in, View<const double, 4>(o.y_bar), View<const double, 4>(o.state),
              bar);
  });
  // States in place of each other.
  Array<double, 4> apart(o.state.extents()), place = o.state, x_bar = o.y_bar;
  SsdCotangent<double> bar;
  bar.accumulate = false, bar.initial_state = apart;
  const auto pull = [&] {
    apply_vjp(exec::cpu{}, m, in, View<const double, 4>(x_bar), View<const double, 4>(place), bar);
  };
  pull();
  bar.initial_state = place;
  pull();
  CHECK(std::equal(place.begin(), place.end(), apart.begin()));
  bar = {x_bar}, bar.accumulate = false;
  CHECK_THROWS_AS(pull(), DomainError);
  CHECK(std::equal(x_bar.begin(), x_bar.end(), o.y_bar.begin()));
}

TEST_CASE("cotangents of the quasiseparable mixer are set", "[nn][cotangents]") {
  const Operands o;
  const Array<double, 2> d = Random(6).array<double, 2>({heads, channels});
  QuasiseparableMixerView<double> m{
      {o.dt, o.b, o.c, o.state}, {o.dt, o.c, o.b, o.state}, o.a, o.dt, d};
  check_set([&](Bars& bars, bool accumulate) {
    const auto direction = [&](const auto& b, const auto& c) {
      return MixerDirectionCotangent<double>{bars(o.dt.extents()), bars(b.extents()),
                                             bars(c.extents()), bars(o.state.extents())};
    };
    QuasiseparableMixerCotangent<double> bar{bars(o.x.extents())};
    bar.forward = direction(o.b, o.c), bar.backward = direction(o.c, o.b);
    bar.a = bars(o.a.extents()), bar.delta = bars(o.dt.extents());
    bar.d = bars(d.extents()), bar.dt_bias = bars(o.a.extents());
    bar.accumulate = accumulate;
    apply_vjp(exec::cpu{}, m, View<const double, 4>(o.x), View<const double, 4>(o.y_bar), bar);
  });
}

TEST_CASE("cotangents of selective scans are set", "[nn][cotangents]") {
  Random random(7);
  const auto u = random.array<double, 3>({batch, length, channels}),
             delta = random.array<double, 3>(u.extents()),
             y_bar = random.array<double, 3>(u.extents());
  auto a = random.array<double, 2>({channels, states});
  for (double& v : a) v = -std::abs(v);
  const auto b = random.array<double, 4>({batch, length, 1, states}),
             c = random.array<double, 4>(b.extents());
  const auto bias = random.array<double, 1>({channels});
  auto state = random.array<double, 3>({batch, channels, states});
  const SelectiveScanView<double> m{delta, a, {{}, b}, {{}, c}, bias, bias};
  const SelectiveScanInput<double> in{u, y_bar, state};
  check_set([&](Bars& bars, bool accumulate) {
    SelectiveScanCotangent<double> bar{bars(u.extents()), bars(u.extents()), bars(u.extents()),
                                       bars(a.extents())};
    bar.b_varying = bars(b.extents()), bar.c_varying = bars(b.extents());
    bar.d = bars(bias.extents()), bar.delta_bias = bars(bias.extents());
    bar.initial_state = bars(state.extents());
    bar.accumulate = accumulate;
    apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), View<const double, 3>(state), bar);
  });
  Array<double, 3> apart(state.extents()), place = state;
  SelectiveScanCotangent<double> bar;
  bar.accumulate = false, bar.initial_state = apart;
  apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), View<const double, 3>(state), bar);
  bar.initial_state = place;
  apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), View<const double, 3>(place), bar);
  CHECK(std::equal(place.begin(), place.end(), apart.begin()));
}

TEST_CASE("cotangents of short convolutions are set", "[nn][cotangents]") {
  Random random(8);
  const auto x = random.array<double, 3>({batch, length, channels}),
             y_bar = random.array<double, 3>(x.extents()),
             state = random.array<double, 3>({batch, channels, 3});
  const auto weight = random.array<double, 2>({channels, 4});
  const auto bias = random.array<double, 1>({channels});
  const Conv1dView<double> m{weight, bias, 0, Activation::silu};
  const Conv1dInput<double> in{x, state};
  check_set([&](Bars& bars, bool accumulate) {
    const Conv1dCotangent<double> bar{bars(x.extents()), bars(weight.extents()),
                                      bars(bias.extents()), bars(state.extents()), accumulate};
    apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), View<const double, 3>(state), bar);
  });
  Array<double, 3> apart(state.extents()), place = state;
  apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), View<const double, 3>(state),
            {{}, {}, {}, apart, false});
  apply_vjp(exec::cpu{}, m, in, View<const double, 3>(y_bar), View<const double, 3>(place),
            {{}, {}, {}, place, false});
  CHECK(std::equal(place.begin(), place.end(), apart.begin()));
}

TEST_CASE("cotangents of gated norms are set", "[nn][cotangents]") {
  Random random(9);
  const auto x = random.array<double, 2>({length, 6}), z = random.array<double, 2>(x.extents()),
             y_bar = random.array<double, 2>(x.extents());
  const auto w = random.array<double, 1>({6});
  GatedNormOptions options;
  options.gate = GENERATE(Gate::before, Gate::after);
  check_set([&](Bars& bars, bool accumulate) {
    options.accumulate = accumulate;
    gated_norm_vjp(exec::cpu{}, View<const double, 2>(x), View<const double, 2>(z),
                   View<const double, 1>(w), options, View<const double, 2>(y_bar),
                   bars(x.extents()), bars(x.extents()), bars(w.extents()));
  });
}
