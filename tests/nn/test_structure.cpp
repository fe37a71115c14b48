// The matrices of SSD and of the quasiseparable mixer with its variants: their entries and their orders.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "structmat/nn/quasiseparable_mixer.hpp"
#include "structmat/nn/ssd.hpp"
#include "structmat/verify/rank_profile.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::Random;

namespace {

using Matrix = Array<double, 2>;

/// One head's matrix: what comes out for the columns of the identity, as channels.
template <class Apply>
Matrix materialised(index_t length, const Apply& apply_to) {
  Array<double, 4> x({1, length, 1, length}), y(x.extents());
  for (index_t t = 0; t < length; ++t) x(0, t, 0, t) = 1;
  apply_to(View<const double, 4>(x), y.view());
  Matrix m({length, length});
  std::copy(y.begin(), y.end(), m.begin());
  return m;
}

/// One direction of one head.
struct Direction {
  Array<double, 3> dt;
  Array<double, 4> b, c;

  Direction(index_t length, index_t states, unsigned seed) {
    Random random(seed);
    dt = random.array<double, 3>({1, length, 1});
    for (double& v : dt) v = 0.05 + std::abs(v);
    b = random.array<double, 4>({1, length, 1, states});
    c = random.array<double, 4>({1, length, 1, states});
  }
  MixerDirection<double> view() const { return {dt, b, c}; }
  double dot(index_t i, index_t j) const {
    double sum = 0;
    for (index_t n = 0; n < b.extent(3); ++n) sum += c(0, i, 0, n) * b(0, j, 0, n);
    return sum * dt(0, j, 0);
  }
  /// exp(a (Delta_begin + ... + Delta_{end - 1})), a factor at a time.
  double decay(double a, index_t begin, index_t end) const {
    double product = 1;
    for (index_t k = begin; k < end; ++k) product *= std::exp(a * dt(0, k, 0));
    return product;
  }
};

struct Head {
  Head(index_t length_, index_t states)
      : length(length_), forward(length_, states, 1), backward(length_, states, 2), a({1}) {
    a(0) = -0.3;
    delta = Random(3).array<double, 3>({1, length, 1});
  }

  Matrix ssd(const Direction& w) const {
    return materialised(length, [&](View<const double, 4> x, View<double, 4> y) {
      SsdView<double> m{w.dt, a, w.b, w.c};
      m.softplus = false;
      apply(exec::cpu{}, m, SsdInput<double>{x}, SsdOutput<double>{y});
    });
  }
  Matrix mixer(bool shift, bool diagonal) const {
    return materialised(length, [&](View<const double, 4> x, View<double, 4> y) {
      QuasiseparableMixerView<double> m{forward.view(), backward.view(), a};
      m.shift = shift, m.softplus = false;
      if (diagonal) m.delta = delta;
      apply(exec::cpu{}, m, x, y);
    });
  }
  /// Entry (i, j) by the definition.
  double entry(bool shift, bool diagonal, index_t i, index_t j) const {
    const index_t s = shift ? 1 : 0;
    double v = i == j && diagonal ? delta(0, i, 0) : 0;
    if (i - s >= j) v += forward.dot(i - s, j) * forward.decay(a(0), j + 1, i - s + 1);
    if (i + s <= j) v += backward.dot(i + s, j) * backward.decay(a(0), i + s, j);
    return v;
  }

  index_t length;
  Direction forward, backward;
  Array<double, 1> a;
  Array<double, 3> delta;
};

/// The largest difference over the largest entry; infinite for NaN.
template <class Entry>
double difference(const Matrix& m, const Entry& entry) {
  double worst = 0, largest = 0;
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t j = 0; j < m.extent(1); ++j) {
      const double off = std::abs(m(i, j) - entry(i, j));
      if (std::isnan(off)) return INFINITY;
      worst = std::max(worst, off);
      largest = std::max(largest, std::abs(m(i, j)));
    }
  }
  return largest == 0 ? worst : worst / largest;
}

}  // namespace

TEST_CASE("the matrix of SSD is N-semiseparable", "[nn_structure]") {
  const index_t states = GENERATE(1, 3, 8), length = GENERATE(40, 150);
  const Head head(length, states);
  const Matrix m = head.ssd(head.forward);
  CHECK(difference(m, [&](index_t i, index_t j) {
          return i >= j ? head.forward.dot(i, j) * head.forward.decay(head.a(0), j + 1, i + 1) : 0;
        }) < 1e-13);
  // Triangular: the lower half alone decides.
  const auto report = verify::semiseparable(m, {.order = Order{states, 0}});
  CHECK(report.holds);
  CHECK(verify::semiseparable(m).order.lower == states);
  if (states > 1) CHECK_FALSE(verify::semiseparable(m, {.order = Order{states - 1, 0}}).holds);
}

TEST_CASE("the mixer and its variants are of order N in both halves", "[nn_structure]") {
  const index_t states = GENERATE(1, 3, 8);
  const bool shift = GENERATE(true, false), diagonal = GENERATE(true, false);
  const Head head(90, states);
  const Matrix m = head.mixer(shift, diagonal);
  CHECK(difference(m, [&](index_t i, index_t j) { return head.entry(shift, diagonal, i, j); }) <
        1e-13);
  const auto report = verify::quasiseparable(m, {.order = Order{states, states}});
  CHECK(report.holds);
  CHECK(verify::quasiseparable(m).order == Order{states, states});
  if (states > 1) {
    CHECK_FALSE(verify::quasiseparable(m, {.order = Order{states - 1, states}}).holds);
    CHECK_FALSE(verify::quasiseparable(m, {.order = Order{states, states - 1}}).holds);
  }
  double trace = 0;
  for (index_t i = 0; i < m.extent(0); ++i) trace += std::abs(m(i, i));
  // No-Diag has none; shifted, the diagonal is that of the data alone.
  if (shift && !diagonal) CHECK(trace == 0);
  if (shift && diagonal) CHECK(m(7, 7) == head.delta(0, 7, 0));
}

TEST_CASE("the mixer is two shifted semiseparable matrices and a diagonal", "[nn_structure]") {
  const index_t length = GENERATE(1, 2, 65);
  const Head head(length, 4);
  const Matrix lower = head.ssd(head.forward);
  // J S_u J: SSD of what is reversed, reversed.
  Direction reversed = head.backward;
  for (index_t t = 0; t < length; ++t) {
    const index_t from = length - 1 - t;
    reversed.dt(0, t, 0) = head.backward.dt(0, from, 0);
    for (index_t n = 0; n < 4; ++n) {
      reversed.b(0, t, 0, n) = head.backward.b(0, from, 0, n);
      reversed.c(0, t, 0, n) = head.backward.c(0, from, 0, n);
    }
  }
  const Matrix upper = head.ssd(reversed);
  const auto of_upper = [&](index_t i, index_t j) { return upper(length - 1 - i, length - 1 - j); };
  // Z S_l + Z^T J S_u J + D
  CHECK(difference(head.mixer(true, true), [&](index_t i, index_t j) {
          return (i > 0 ? lower(i - 1, j) : 0) + (i + 1 < length ? of_upper(i + 1, j) : 0) +
                 (i == j ? head.delta(0, i, 0) : 0);
        }) < 1e-15);
  // Add: S_l + J S_u J
  CHECK(difference(head.mixer(false, false),
                   [&](index_t i, index_t j) { return lower(i, j) + of_upper(i, j); }) < 1e-15);
}

TEMPLATE_TEST_CASE("a token that forgets everything costs the others nothing", "[nn_structure]",
                   float, double) {
  using T = TestType;
  Array<T, 3> dt({1, 3, 1});
  dt(0, 0, 0) = 2, dt(0, 1, 0) = T(1e9), dt(0, 2, 0) = T(0.5);
  Array<T, 4> one({1, 3, 1, 1}), x({1, 3, 1, 3}), y(x.extents());
  std::fill(one.begin(), one.end(), T(1));
  for (index_t t = 0; t < 3; ++t) x(0, t, 0, t) = 1;
  Array<T, 1> a({1});
  a(0) = -1;
  SsdView<T> m{dt, a, one, one};
  m.softplus = false;
  apply(exec::cpu{}, m, SsdInput<T>{x}, SsdOutput<T>{y});
  CHECK(y(0, 2, 0, 1) / T(1e9) == Approx(0.6065306597).epsilon(1e-6));
  CHECK(y(0, 2, 0, 2) == T(0.5));
  CHECK(y(0, 1, 0, 0) == 0);
  CHECK(y(0, 2, 0, 0) == 0);
  QuasiseparableMixerView<T> both{{dt, one, one}, {dt, one, one}, a};
  both.softplus = false, both.shift = false;
  apply(exec::cpu{}, both, View<const T, 4>(x), y.view());
  CHECK(y(0, 2, 0, 1) / T(1e9) == Approx(0.6065306597).epsilon(1e-6));
  CHECK(y(0, 0, 0, 1) / T(1e9) == Approx(std::exp(-2.0)).epsilon(1e-6));
  CHECK(y(0, 0, 0, 2) == 0);
}

TEST_CASE("numbers behind the last token are not met", "[nn_structure]") {
  // Neither those of longer sequences, nor steps of what fills up a chunk.
  Head longer(200, 5);
  const index_t length = GENERATE(1, 2, 63, 64, 65, 197);
  const auto cut = [&](const auto& v) { return v.slice(1, 0, length); };
  const Matrix whole = longer.ssd(longer.forward);
  for (index_t t = length; t < 200; ++t) {
    longer.forward.dt(0, t, 0) = NAN;
    for (index_t n = 0; n < 5; ++n) {
      longer.forward.b(0, t, 0, n) = INFINITY, longer.forward.c(0, t, 0, n) = NAN;
    }
  }
  const Direction& w = longer.forward;
  const Matrix m = materialised(length, [&](View<const double, 4> x, View<double, 4> y) {
    SsdView<double> part{cut(w.dt.view()), longer.a, cut(w.b.view()), cut(w.c.view())};
    part.softplus = false;
    apply(exec::cpu{}, part, SsdInput<double>{x}, SsdOutput<double>{y});
  });
  CHECK(difference(m, [&](index_t i, index_t j) { return whole(i, j); }) == 0);
}

TEST_CASE("extents of SSD and the mixer one at a time", "[nn_structure]") {
  struct Extents {
    index_t batch, length, heads, channels, states;
  };
  std::vector<Extents> all;
  for (const index_t length : {1, 2, 3, 63, 64, 65, 197}) all.push_back({1, length, 3, 24, 16});
  for (const index_t channels : {1, 64, 80, 128}) all.push_back({1, 5, 1, channels, 16});
  for (const index_t states : {1, 64, 100, 128, 256}) all.push_back({1, 5, 3, 24, states});
  all.push_back({0, 5, 3, 24, 16}), all.push_back({1, 0, 3, 24, 16});
  for (const Extents& s : all) {
    INFO(s.batch << " x " << s.length << " x " << s.heads << " x " << s.channels << ", N "
                 << s.states);
    Random random(4);
    const auto x = random.array<double, 4>({s.batch, s.length, s.heads, s.channels});
    const auto b = random.array<double, 4>({s.batch, s.length, 1, s.states}),
               c = random.array<double, 4>(b.extents());
    const auto dt = random.array<double, 3>({s.batch, s.length, s.heads});
    auto a = random.array<double, 1>({s.heads});
    for (double& v : a) v = -std::abs(v);
    const auto skip = random.array<double, 2>({s.heads, 1});
    const View<const double, 2> d = skip.view().broadcast(1, s.channels);
    Array<double, 4> y(x.extents()), mixed(x.extents());
    SsdView<double> m{dt, a, b, c, d};
    apply(exec::cpu{}, m, SsdInput<double>{x}, SsdOutput<double>{y});
    QuasiseparableMixerView<double> both{{dt, b, c}, {dt, c, b}, a, dt, d};
    apply(exec::cpu{}, both, View<const double, 4>(x), mixed.view());
    const auto step = [&](index_t t, index_t h) { return std::log1p(std::exp(dt(0, t, h))); };
    double worst = 0;
    for (index_t h = 0; s.batch > 0 && h < s.heads; ++h) {
      for (index_t i = 0; i < s.length; ++i) {
        std::vector<double> sum(s.channels), sum_mixed(s.channels);
        double size = 1;
        for (index_t j = 0; j < s.length; ++j) {
          double exponent = 0, dot = 0, before = 0, behind = 0;
          for (index_t k = std::min(i, j) + 1; k < std::max(i, j); ++k) exponent += step(k, h);
          for (index_t n = 0; n < s.states; ++n) {
            dot += c(0, i, 0, n) * b(0, j, 0, n);
            if (i > 0) before += c(0, i - 1, 0, n) * b(0, j, 0, n);
            if (i + 1 < s.length) behind += b(0, i + 1, 0, n) * c(0, j, 0, n);
          }
          const double w = step(j, h) * std::exp(a(h) * exponent);
          const double entry = i > j    ? dot * w * std::exp(a(h) * step(i, h))
                               : i == j ? dot * step(j, h)
                                        : 0,
                       entry_mixed = i > j   ? before * w
                                     : i < j ? behind * w
                                             : dt(0, i, h);
          size += std::abs(entry) + std::abs(entry_mixed);
          for (index_t p = 0; p < s.channels; ++p) {
            sum[p] += entry * x(0, j, h, p), sum_mixed[p] += entry_mixed * x(0, j, h, p);
          }
        }
        for (index_t p = 0; p < s.channels; ++p) {
          const double skipped = skip(h, 0) * x(0, i, h, p);
          worst = std::max(worst, std::abs(sum[p] + skipped - y(0, i, h, p)) / size);
          worst = std::max(worst, std::abs(sum_mixed[p] + skipped - mixed(0, i, h, p)) / size);
        }
      }
    }
    CHECK(std::isfinite(std::reduce(y.begin(), y.end()) + std::reduce(mixed.begin(), mixed.end())));
    CHECK(worst < 1e-12);
  }
}
