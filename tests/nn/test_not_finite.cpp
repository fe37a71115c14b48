// What is not finite reaches what depends on it, and nothing else: not earlier tokens, other heads or channels, or
// other sequences.

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "structmat/nn/conv1d.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"
#include "structmat/nn/selective_scan.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::Random;

namespace {

constexpr index_t length = 150, heads = 2, channels = 3, states = 4;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Entries that depend are NaN or infinite, all others are those of the clean run, bit for bit.
template <int Rank, class Depends>
void check_reach(const Array<double, Rank>& clean, const Array<double, Rank>& found,
                 const Depends& depends) {
  index_t at = 0, wrong = 0;
  std::array<index_t, Rank> i{};
  for (; at < clean.size(); ++at) {
    index_t rest = at;
    for (int r = Rank - 1; r >= 0; --r) i[r] = rest % clean.extent(r), rest /= clean.extent(r);
    const double v = found.data()[at];
    wrong += depends(i) ? std::isfinite(v) : v != clean.data()[at];
  }
  CHECK(wrong == 0);
}

struct Layer {
  explicit Layer(bool packed) {
    Random random(1);
    const auto fill = [&](auto& to) {
      to = random.array<double, std::remove_cvref_t<decltype(to)>::rank>(to.extents());
    };
    fill(x), fill(y_bar), fill(b), fill(c), fill(dt), fill(a), fill(b_back), fill(c_back);
    for (double& v : a) v = -0.1 - std::abs(v);
    if (packed) starts = {0, 40, 110, length};
  }
  SsdView<double> matrix() const {
    SsdView<double> m{dt, a, b, c};
    if (!starts.empty()) m.starts = Starts<>(starts);
    return m;
  }
  QuasiseparableMixerView<double> mixer() const {
    QuasiseparableMixerView<double> m{{dt, b, c}, {dt, b_back, c_back}, a, dt};
    if (!starts.empty()) m.starts = Starts<>(starts);
    return m;
  }
  /// One behind the last token of the sequence of token t, and its first token.
  index_t end(index_t t) const {
    return starts.empty() ? length : t < 40 ? 40 : t < 110 ? 110 : length;
  }
  index_t begin(index_t t) const { return starts.empty() || t < 40 ? 0 : t < 110 ? 40 : 110; }

  Array<double, 4> x{{1, length, heads, channels}}, y_bar{x.extents()};
  Array<double, 4> b{{1, length, 1, states}}, c{b.extents()}, b_back{b.extents()},
      c_back{b.extents()};
  Array<double, 3> dt{{1, length, heads}};
  Array<double, 1> a{{heads}};
  std::vector<index_t> starts{};
};

Array<double, 4> ssd(const Layer& k) {
  Array<double, 4> y(k.x.extents());
  apply(exec::cpu{}, k.matrix(), SsdInput<double>{k.x}, SsdOutput<double>{y});
  return y;
}

struct SsdBars {
  explicit SsdBars(const Layer& k)
      : x(k.x.extents()), b(k.b.extents()), c(k.c.extents()), dt(k.dt.extents()) {
    apply_vjp(exec::cpu{}, k.matrix(), SsdInput<double>{k.x}, View<const double, 4>(k.y_bar), {},
              SsdCotangent<double>{x, {}, dt, {}, b, c});
  }
  Array<double, 4> x, b, c;
  Array<double, 3> dt;
};

using I4 = std::array<index_t, 4>;
using I3 = std::array<index_t, 3>;

}  // namespace

TEST_CASE("what is not finite in SSD", "[nn]") {
  const bool packed = GENERATE(false, true);
  // Within a tile of rows, at the edges of one, and at the edge of a chunk.
  const index_t t = GENERATE(5, 42, 64, 66, 103);
  const double bad = GENERATE(false, true) ? std::numeric_limits<double>::infinity() : not_a_number;
  Layer k(packed);
  const Array<double, 4> clean = ssd(k);
  const SsdBars clean_bars(k);
  const index_t begin = k.begin(t), end = k.end(t);
  const auto later = [&](index_t token) { return token >= t && token < end; };

  SECTION("x") {
    k.x(0, t, 1, 2) = bad;
    check_reach(clean, ssd(k), [&](const I4& i) { return later(i[1]) && i[2] == 1 && i[3] == 2; });
    const SsdBars bars(k);
    check_reach(clean_bars.x, bars.x, [](const I4&) { return false; });
    check_reach(clean_bars.c, bars.c, [&](const I4& i) { return later(i[1]); });
    check_reach(clean_bars.b, bars.b, [&](const I4& i) { return i[1] == t; });
    // Steps decay what lies in front of them.
    check_reach(clean_bars.dt, bars.dt, [&](const I3& i) { return later(i[1]) && i[2] == 1; });
  }
  SECTION("B") {
    k.b(0, t, 0, 1) = bad;
    check_reach(clean, ssd(k), [&](const I4& i) { return later(i[1]); });
  }
  SECTION("C") {
    k.c(0, t, 0, 1) = bad;
    check_reach(clean, ssd(k), [&](const I4& i) { return i[1] == t; });
  }
  SECTION("dt") {
    k.dt(0, t, 1) = not_a_number;
    check_reach(clean, ssd(k), [&](const I4& i) { return later(i[1]) && i[2] == 1; });
  }
  SECTION("y_bar") {
    k.y_bar(0, t, 1, 2) = bad;
    const SsdBars bars(k);
    const auto earlier = [&](index_t token) { return token <= t && token >= begin; };
    check_reach(clean_bars.x, bars.x,
                [&](const I4& i) { return earlier(i[1]) && i[2] == 1 && i[3] == 2; });
    check_reach(clean_bars.b, bars.b, [&](const I4& i) { return earlier(i[1]); });
    check_reach(clean_bars.c, bars.c, [&](const I4& i) { return i[1] == t; });
    check_reach(clean_bars.dt, bars.dt, [&](const I3& i) { return earlier(i[1]) && i[2] == 1; });
  }
}

TEST_CASE("what is not finite in the quasiseparable mixer", "[nn]") {
  const bool packed = GENERATE(false, true);
  const index_t t = GENERATE(5, 42, 64, 103);
  Layer k(packed);
  const auto run = [&] {
    Array<double, 4> y(k.x.extents());
    apply(exec::cpu{}, k.mixer(), View<const double, 4>(k.x), y.view());
    return y;
  };
  const Array<double, 4> clean = run();
  const index_t begin = k.begin(t), end = k.end(t);
  const auto inside = [&](index_t token) { return token >= begin && token < end; };
  SECTION("x") {
    k.x(0, t, 1, 2) = not_a_number;
    check_reach(clean, run(), [&](const I4& i) { return inside(i[1]) && i[2] == 1 && i[3] == 2; });
  }
  SECTION("C of one direction") {
    k.c(0, t, 0, 1) = not_a_number;
    check_reach(clean, run(), [&](const I4& i) { return i[1] == t + 1 && i[1] < end; });
  }
}

TEST_CASE("what is not finite in selective scans and short convolutions", "[nn]") {
  const index_t t = GENERATE(0, 5, 64, 149);
  Random random(3);
  const I3 like_x{2, length, 5};
  Array<double, 3> x = random.array<double, 3>(like_x), y(like_x), found(like_x);
  SECTION("scan") {
    const auto delta = random.array<double, 3>(like_x);
    Array<double, 2> a = random.array<double, 2>(std::array<index_t, 2>{5, states});
    for (double& v : a) v = -std::abs(v);
    const auto b = random.array<double, 4>(I4{2, length, 1, states}),
               c = random.array<double, 4>(b.extents());
    SelectiveScanView<double> m{delta, a, {}, {}};
    m.b.varying = b, m.c.varying = c;
    apply(exec::cpu{}, m, SelectiveScanInput<double>{x}, SelectiveScanOutput<double>{y});
    x(1, t, 3) = not_a_number;
    apply(exec::cpu{}, m, SelectiveScanInput<double>{x}, SelectiveScanOutput<double>{found});
    check_reach(y, found, [&](const I3& i) { return i[0] == 1 && i[1] >= t && i[2] == 3; });
  }
  SECTION("convolution") {
    const index_t ahead = GENERATE(0, 2);
    const auto weight = random.array<double, 2>(std::array<index_t, 2>{5, 4});
    Conv1dView<double> m{weight};
    m.ahead = ahead, m.activation = Activation::silu;
    apply(exec::cpu{}, m, Conv1dInput<double>{x}, Conv1dOutput<double>{y});
    x(1, t, 3) = not_a_number;
    apply(exec::cpu{}, m, Conv1dInput<double>{x}, Conv1dOutput<double>{found});
    check_reach(y, found, [&](const I3& i) {
      return i[0] == 1 && i[2] == 3 && i[1] >= t - ahead && i[1] <= t + 3 - ahead;
    });
  }
}
