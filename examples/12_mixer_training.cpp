// A quasiseparable mixer learns to reproduce another one from what that makes of random sequences; its matrix is
// verified to be of the order of its states. Then SSD, the causal half, continues a sequence token by token.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <structmat/structmat.hpp>

using namespace structmat;

namespace {

constexpr index_t length = 48, channels = 16, states = 3;

template <int Rank>
using Numbers = Array<double, Rank>;

template <int Rank>
Numbers<Rank> random(const std::array<index_t, Rank>& extents, double scale, std::mt19937& gen) {
  std::normal_distribution<double> normal(0, scale);
  Numbers<Rank> a(extents);
  for (double& v : a) v = normal(gen);
  return a;
}

/// What a mixer of one head learns; its cotangents have the same shape.
struct Parameters {
  Numbers<3> dt[2], delta;
  Numbers<4> b[2], c[2];
  Numbers<1> a;

  explicit Parameters(double scale, std::mt19937& gen) : a({1}) {
    for (int i = 0; i < 2; ++i) {
      dt[i] = random<3>({1, length, 1}, scale, gen);
      b[i] = random<4>({1, length, 1, states}, scale, gen);
      c[i] = random<4>({1, length, 1, states}, scale, gen);
    }
    delta = random<3>({1, length, 1}, scale, gen);
    a(0) = -0.5;
  }
  nn::QuasiseparableMixerView<double> view() const {
    return {{dt[0], b[0], c[0]}, {dt[1], b[1], c[1]}, a, delta};
  }
};

double squared_norm(const Numbers<4>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum;
}

/// M applied to the identity.
Numbers<2> matrix(const Parameters& p) {
  Numbers<4> x({1, length, 1, length}), y(x.extents());
  for (index_t t = 0; t < length; ++t) x(0, t, 0, t) = 1;
  nn::apply(exec::cpu{}, p.view(), View<const double, 4>(x), y.view());
  Numbers<2> m({length, length});
  std::copy(y.begin(), y.end(), m.begin());
  return m;
}

/// Gradient descent; the loss falls to a small part of the first one.
bool train(std::mt19937& gen) {
  const Parameters target(1, gen);
  Parameters own(0.7, gen);
  const auto x = random<4>({1, length, 1, channels}, 1, gen);
  Numbers<4> wanted(x.extents()), y(x.extents());
  nn::apply(exec::cpu{}, target.view(), View<const double, 4>(x), wanted.view());
  constexpr int steps = 200;
  constexpr double rate = 0.1;
  double first = 0, last = 0;
  Parameters bar = own;
  for (int step = 0; step <= steps; ++step) {
    nn::apply(exec::cpu{}, own.view(), View<const double, 4>(x), y.view());
    for (index_t i = 0; i < y.size(); ++i) y.data()[i] -= wanted.data()[i];
    last = squared_norm(y) / squared_norm(wanted);
    if (step == 0) first = last;
    if (step % 50 == 0) std::printf("step %3d: relative loss %.4f\n", step, last);
    // The cotangent of half the sum of squares, over all channels.
    for (double& v : y) v /= channels;
    nn::QuasiseparableMixerCotangent<double> wants;
    wants.forward = {bar.dt[0], bar.b[0], bar.c[0]};
    wants.backward = {bar.dt[1], bar.b[1], bar.c[1]};
    wants.delta = bar.delta, wants.accumulate = false;
    nn::apply_vjp(exec::cpu{}, own.view(), View<const double, 4>(x), View<const double, 4>(y),
                  wants);
    const auto descend = [](auto& from, const auto& by) {
      for (index_t i = 0; i < from.size(); ++i) from.data()[i] -= rate * by.data()[i];
    };
    for (int i = 0; i < 2; ++i) {
      descend(own.dt[i], bar.dt[i]), descend(own.b[i], bar.b[i]), descend(own.c[i], bar.c[i]);
    }
    descend(own.delta, bar.delta);
  }
  const auto report = verify::quasiseparable(matrix(own), {.order = Order{states, states}});
  std::printf("order of the learned matrix: lower %lld, upper %lld\n",
              static_cast<long long>(report.order.lower),
              static_cast<long long>(report.order.upper));
  return last < 0.2 * first && report.holds;
}

/// The first tokens at once, then one at a time, the state in place: what the whole sequence gives.
bool decode(std::mt19937& gen) {
  const Parameters p(1, gen);
  const auto x = random<4>({1, length, 1, channels}, 1, gen);
  const nn::SsdView<double> m{p.dt[0], p.a, p.b[0], p.c[0]};
  Numbers<4> whole(x.extents()), y(x.extents()), state({1, 1, channels, states});
  nn::apply(exec::cpu{}, m, nn::SsdInput<double>{x}, nn::SsdOutput<double>{whole});
  const auto tokens = [&](index_t begin, index_t end) {
    const auto part = [&](auto& v) { return v.view().slice(1, begin, end); };
    const nn::SsdView<double> own{part(p.dt[0]), p.a, part(p.b[0]), part(p.c[0])};
    nn::apply(exec::cpu{}, own, nn::SsdInput<double>{part(x), {}, state},
              nn::SsdOutput<double>{part(y), state});
  };
  tokens(0, 30);
  for (index_t t = 30; t < length; ++t) tokens(t, t + 1);
  double worst = 0;
  for (index_t i = 0; i < y.size(); ++i) {
    worst = std::max(worst, std::abs(y.data()[i] - whole.data()[i]));
  }
  std::printf("token by token: off by %.1e\n", worst);
  return worst < 1e-12;
}

}  // namespace

int main() {
  std::mt19937 gen(1);
  return train(gen) && decode(gen) ? 0 : 1;
}
