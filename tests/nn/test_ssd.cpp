#include "structmat/nn/ssd.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/core/error.hpp"
#include "structmat/verify/rank_profile.hpp"
#include "support/gradient.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::Random;

namespace {

double softplus(double v) {
  return v > 40 ? v : std::log1p(std::exp(v));
}

/// Everything that goes into one call, in double; T sees it rounded.
struct Case {
  index_t batch = 1, length = 0, heads = 1, channels = 1, groups = 1, states = 1;
  Array<double, 4> x, z, b, c, initial;
  Array<double, 3> dt;
  Array<double, 1> a, bias;
  Array<double, 2> d;
  bool softplus = true;
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
    const std::array<index_t, 4> like_x{batch, length, heads, channels},
        like_b{batch, length, groups, states};
    x = random.array<double, 4>(like_x), z = random.array<double, 4>(like_x);
    b = random.array<double, 4>(like_b), c = random.array<double, 4>(like_b);
    initial = random.array<double, 4>(
        std::array<index_t, 4>{sequences > 0 ? sequences : batch, heads, channels, states});
    dt = random.array<double, 3>(std::array<index_t, 3>{batch, length, heads});
    a = random.array<double, 1>(std::array<index_t, 1>{heads});
    for (double& v : a) v = -0.1 - std::abs(v);
    bias = random.array<double, 1>(std::array<index_t, 1>{heads});
    d = random.array<double, 2>(std::array<index_t, 2>{heads, channels});
  }

  SsdView<double> matrix() const {
    SsdView<double> m{dt, a, b, c, d, bias, softplus};
    if (!starts.empty()) m.starts = Starts<>(starts);
    return m;
  }
  SsdInput<double> input() const { return {x, z, initial}; }

  double delta(index_t e, index_t t, index_t h) const {
    const double v = dt(e, t, h) + bias(h);
    return softplus ? ::softplus(v) : v;
  }
  /// Entry (i, j) of the matrix of one head from its formula.
  double entry(index_t e, index_t h, index_t i, index_t j) const {
    double dot = 0, exponent = 0;
    const index_t g = h / (heads / groups);
    for (index_t n = 0; n < states; ++n) dot += c(e, i, g, n) * b(e, j, g, n);
    for (index_t k = j + 1; k <= i; ++k) exponent += delta(e, k, h) * a(h);
    return dot * delta(e, j, h) * std::exp(exponent);
  }
  double gate(index_t e, index_t t, index_t h, index_t p) const {
    const double v = z(e, t, h, p);
    return v / (1 + std::exp(-v));
  }
};

/// A scalar sequence: H = P = N = 1, B = C = 1.
struct Line {
  explicit Line(index_t length, double dt_, double a_)
      : x({1, length, 1, 1}), one({1, length, 1, 1}), dt({1, length, 1}), a({1}) {
    std::fill(x.begin(), x.end(), 1.0);
    std::fill(one.begin(), one.end(), 1.0);
    std::fill(dt.begin(), dt.end(), dt_);
    a(0) = a_;
  }
  SsdView<double> matrix() const {
    SsdView<double> m{dt, a, one, one};
    m.softplus = false;
    return m;
  }
  Array<double, 4> x, one;
  Array<double, 3> dt;
  Array<double, 1> a;
};

struct Result {
  Array<double, 4> y, final_state;
};
Result run(const Case& k, const SsdView<double>& m, const SsdInput<double>& in) {
  Result r{Array<double, 4>(k.x.extents()), Array<double, 4>(k.initial.extents())};
  apply(exec::cpu{}, m, in, SsdOutput<double>{r.y, r.final_state});
  return r;
}
Result run(const Case& k) {
  return run(k, k.matrix(), k.input());
}

/// Storage for all cotangents of a case.
struct Bars {
  explicit Bars(const Case& k)
      : x(k.x.extents()),
        z(k.z.extents()),
        b(k.b.extents()),
        c(k.c.extents()),
        initial(k.initial.extents()),
        dt(k.dt.extents()),
        a(k.a.extents()),
        bias(k.bias.extents()),
        d(k.d.extents()) {}
  SsdCotangent<double> view() { return {x, z, dt, a, b, c, d, bias, initial}; }
  Array<double, 4> x, z, b, c, initial;
  Array<double, 3> dt;
  Array<double, 1> a, bias;
  Array<double, 2> d;
};

bool same(const auto& a, const auto& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

TEST_CASE("the matrix of SSD by its formula", "[nn][ssd]") {
  const index_t length = GENERATE(1, 2, 63, 64, 65, 197);
  const index_t channels = GENERATE(1, 24, 80), states = GENERATE(1, 5, 16);
  const Case k(2, length, 4, channels, 2, states, 1);
  const Result r = run(k);
  double worst = 0;
  for (index_t e = 0; e < k.batch; ++e) {
    for (index_t h = 0; h < k.heads; ++h) {
      Array<double, 2> m({length, length});
      for (index_t i = 0; i < length; ++i) {
        for (index_t j = 0; j <= i; ++j) m(i, j) = k.entry(e, h, i, j);
      }
      for (index_t p = 0; p < channels; p += 7) {
        for (index_t i = 0; i < length; ++i) {
          double sum = k.d(h, p) * k.x(e, i, h, p), size = std::abs(sum), decay = 0;
          for (index_t j = 0; j <= i; ++j) {
            sum += m(i, j) * k.x(e, j, h, p), size += std::abs(m(i, j) * k.x(e, j, h, p));
          }
          for (index_t t = 0; t <= i; ++t) decay += k.delta(e, t, h) * k.a(h);
          const index_t g = h / 2;
          for (index_t n = 0; n < states; ++n) {
            sum += std::exp(decay) * k.initial(e, h, p, n) * k.c(e, i, g, n);
            size += std::abs(std::exp(decay) * k.initial(e, h, p, n) * k.c(e, i, g, n));
          }
          const double gate = k.gate(e, i, h, p);
          worst = std::max(
              worst, std::abs(sum * gate - r.y(e, i, h, p)) / (size * std::abs(gate) + 1e-300));
        }
      }
    }
  }
  CHECK(worst <= 8 * double(length + states) * epsilon<double>);
}

TEST_CASE("known sums of SSD", "[nn][ssd]") {
  SECTION("steady state and its cotangents") {
    const Line k(300, 0.1, -1);
    Array<double, 4> y(k.x.extents()), y_bar(k.x.extents()), x_bar(k.x.extents());
    Array<double, 3> dt_bar(k.dt.extents());
    Array<double, 1> a_bar({1});
    apply(exec::cpu{}, k.matrix(), SsdInput<double>{k.x}, SsdOutput<double>{y});
    CHECK(y(0, 0, 0, 0) == Approx(0.1).epsilon(1e-14));
    CHECK(y(0, 1, 0, 0) == Approx(0.1904837418).epsilon(1e-9));
    CHECK(y(0, 255, 0, 0) == Approx(1.0508331944695).epsilon(1e-12));
    CHECK(y(0, 299, 0, 0) == Approx(1.0508331944774).epsilon(1e-12));
    std::fill(y_bar.begin(), y_bar.end(), 1.0);
    apply_vjp(exec::cpu{}, k.matrix(), SsdInput<double>{k.x}, View<const double, 4>(y_bar), {},
              SsdCotangent<double>{x_bar, {}, dt_bar, a_bar});
    CHECK(x_bar(0, 0, 0, 0) == Approx(1.0508331944774).epsilon(1e-12));
    CHECK(x_bar(0, 299, 0, 0) == Approx(0.1).epsilon(1e-14));
    CHECK(dt_bar(0, 0, 0) == Approx(10.508331944774).epsilon(1e-12));
    CHECK(dt_bar(0, 150, 0) == Approx(0.51666401152).epsilon(1e-9));
    CHECK(dt_bar(0, 299, 0) == Approx(0.04916680552).epsilon(1e-9));
    CHECK(a_bar(0) == Approx(279.7501333).epsilon(1e-9));
  }
  SECTION("a decay beyond the range of numbers") {
    const Line k(512, 1, -1000);
    Array<double, 4> y(k.x.extents()), y_bar(k.x.extents()), x_bar(k.x.extents());
    Array<double, 3> dt_bar(k.dt.extents());
    Array<double, 1> a_bar({1});
    apply(exec::cpu{}, k.matrix(), SsdInput<double>{k.x}, SsdOutput<double>{y});
    std::fill(y_bar.begin(), y_bar.end(), 1.0);
    apply_vjp(exec::cpu{}, k.matrix(), SsdInput<double>{k.x}, View<const double, 4>(y_bar), {},
              SsdCotangent<double>{x_bar, {}, dt_bar, a_bar});
    for (index_t t = 0; t < 512; ++t) {
      REQUIRE(y(0, t, 0, 0) == 1);
      REQUIRE(x_bar(0, t, 0, 0) == 1);
      REQUIRE(dt_bar(0, t, 0) == 1);
    }
    CHECK(a_bar(0) == 0);
  }
  SECTION("no decay, exactly, also in bf16") {
    const Line k(4096, 1.0 / 256, 0);
    Array<bf16, 4> x({1, 4096, 1, 1}), y(x.extents());
    Array<bf16, 3> dt({1, 4096, 1});
    Array<float, 1> a({1});
    for (bf16& v : x) v = bf16(1.0f);
    for (bf16& v : dt) v = bf16(1.0f / 256);
    SsdView<bf16> m{dt, a, x, x};
    m.softplus = false;
    apply(exec::cpu{}, m, SsdInput<bf16>{x}, SsdOutput<bf16>{y});
    CHECK(static_cast<float>(y(0, 4095, 0, 0)) == 16.0f);
  }
  SECTION("one huge step among small ones") {
    Line k(3, 1, -1);
    k.dt(0, 1, 0) = 1e9, k.dt(0, 2, 0) = 0.5;
    Array<double, 4> y(k.x.extents());
    k.x(0, 0, 0, 0) = 0, k.x(0, 2, 0, 0) = 0, k.x(0, 1, 0, 0) = 1e-9;
    apply(exec::cpu{}, k.matrix(), SsdInput<double>{k.x}, SsdOutput<double>{y});
    CHECK(y(0, 2, 0, 0) == Approx(0.6065306597).epsilon(1e-9));
  }
  SECTION("initial state alone") {
    const Line k(300, 0.1, -1);
    Array<double, 4> zero(k.x.extents()), y(k.x.extents()), s0({1, 1, 1, 1}), s1({1, 1, 1, 1}),
        y_bar(k.x.extents()), s0_bar({1, 1, 1, 1});
    s0(0, 0, 0, 0) = 1;
    apply(exec::cpu{}, k.matrix(), SsdInput<double>{zero, {}, s0}, SsdOutput<double>{y, s1});
    CHECK(y(0, 9, 0, 0) == Approx(std::exp(-1.0)).epsilon(1e-13));
    CHECK(s1(0, 0, 0, 0) == Approx(9.3576e-14).epsilon(1e-4));
    std::fill(y_bar.begin(), y_bar.end(), 1.0);
    SsdCotangent<double> bar{};
    bar.initial_state = s0_bar;
    apply_vjp(exec::cpu{}, k.matrix(), SsdInput<double>{zero, {}, s0}, View<const double, 4>(y_bar),
              {}, bar);
    CHECK(s0_bar(0, 0, 0, 0) == Approx(9.508331944774).epsilon(1e-12));
  }
}

TEST_CASE("cotangents of SSD by central differences", "[nn][ssd]") {
  const auto [length, channels, groups, states] =
      GENERATE(table<index_t, index_t, index_t, index_t>(
          {{1, 1, 1, 1}, {7, 3, 1, 2}, {67, 2, 2, 3}, {9, 17, 2, 5}}));
  Case k(2, length, 2, channels, groups, states, 5);
  Random random(6);
  const auto y_bar = random.array<double, 4>(k.x.extents());
  const auto final_bar = random.array<double, 4>(k.initial.extents());
  const auto loss = [&] {
    const Result r = run(k);
    return test::inner(y_bar, r.y) + test::inner(final_bar, r.final_state);
  };
  Bars bars(k);
  apply_vjp(exec::cpu{}, k.matrix(), k.input(), View<const double, 4>(y_bar),
            View<const double, 4>(final_bar), bars.view());
  test::check_gradient("x", k.x, bars.x, loss);
  test::check_gradient("z", k.z, bars.z, loss);
  test::check_gradient("dt", k.dt, bars.dt, loss);
  test::check_gradient("a", k.a, bars.a, loss, 1e-7);
  test::check_gradient("B", k.b, bars.b, loss);
  test::check_gradient("C", k.c, bars.c, loss);
  test::check_gradient("D", k.d, bars.d, loss);
  test::check_gradient("dt_bias", k.bias, bars.bias, loss, 1e-7);
  test::check_gradient("initial_state", k.initial, bars.initial, loss);
}

TEST_CASE("pieces, packed sequences and single samples of SSD", "[nn][ssd]") {
  SECTION("a state that is handed on") {
    const Case k(1, 150, 2, 3, 1, 4, 11);
    const Result whole = run(k);
    Array<double, 4> y(k.x.extents()), between(k.initial.extents()), last(k.initial.extents());
    const auto piece = [&](index_t begin, index_t end, const Array<double, 4>& from,
                           Array<double, 4>& to) {
      SsdView<double> m = k.matrix();
      m.dt = m.dt.slice(1, begin, end), m.b = m.b.slice(1, begin, end),
      m.c = m.c.slice(1, begin, end);
      const SsdInput<double> all = k.input();
      apply(exec::cpu{}, m,
            SsdInput<double>{all.x.slice(1, begin, end), all.z.slice(1, begin, end), from},
            SsdOutput<double>{y.view().slice(1, begin, end), to});
    };
    piece(0, 64, k.initial, between);
    piece(64, 150, between, last);
    CHECK(same(y, whole.y));
    CHECK(same(last, whole.final_state));
  }
  SECTION("token by token, the state in place") {
    const Case k(2, 70, 2, 3, 1, 4, 16);
    const Result whole = run(k);
    Array<double, 4> y(k.x.extents()), state = k.initial;
    for (index_t t = 0; t < 70; ++t) {
      SsdView<double> m = k.matrix();
      m.dt = m.dt.slice(1, t, t + 1), m.b = m.b.slice(1, t, t + 1), m.c = m.c.slice(1, t, t + 1);
      const SsdInput<double> all = k.input();
      apply(exec::cpu{}, m,
            SsdInput<double>{all.x.slice(1, t, t + 1), all.z.slice(1, t, t + 1), state},
            SsdOutput<double>{y.view().slice(1, t, t + 1), state});
    }
    // Sums inside chunks are in another order.
    const auto close = [](const Array<double, 4>& a, const Array<double, 4>& b) {
      double largest = 0, worst = 0;
      for (index_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(b.data()[i]));
        worst = std::max(worst, std::abs(a.data()[i] - b.data()[i]));
      }
      return worst <= 70 * epsilon<double> * largest;
    };
    CHECK(close(y, whole.y));
    CHECK(close(state, whole.final_state));
  }
  SECTION("packed") {
    Case k(1, 150, 2, 3, 1, 4, 12, 4);
    k.starts = {0, 77, 77, 78, 150};
    const Result packed = run(k);
    Random random(13);
    const auto y_bar = random.array<double, 4>(k.x.extents());
    Bars bars(k);
    apply_vjp(exec::cpu{}, k.matrix(), k.input(), View<const double, 4>(y_bar), {}, bars.view());
    for (index_t s = 0; s < 4; ++s) {
      const index_t begin = k.starts[s], end = k.starts[s + 1];
      SsdView<double> m = k.matrix();
      m.starts = {};
      m.dt = m.dt.slice(1, begin, end), m.b = m.b.slice(1, begin, end),
      m.c = m.c.slice(1, begin, end);
      const SsdInput<double> all = k.input();
      const SsdInput<double> in{all.x.slice(1, begin, end), all.z.slice(1, begin, end),
                                all.initial_state.slice(0, s, s + 1)};
      Array<double, 4> y({1, end - begin, 2, 3}), last({1, 2, 3, 4}), x_bar(y.extents()),
          s_bar(last.extents());
      apply(exec::cpu{}, m, in, SsdOutput<double>{y, last});
      SsdCotangent<double> bar{x_bar};
      bar.initial_state = s_bar;
      apply_vjp(exec::cpu{}, m, in, View<const double, 4>(y_bar.view().slice(1, begin, end)), {},
                bar);
      CHECK(same(y, to_array(packed.y.view().slice(1, begin, end))));
      CHECK(same(last, to_array(packed.final_state.view().slice(0, s, s + 1))));
      CHECK(same(x_bar, to_array(bars.x.view().slice(1, begin, end))));
      CHECK(same(s_bar, to_array(bars.initial.view().slice(0, s, s + 1))));
    }
    CHECK(same(to_array(packed.final_state.view().slice(0, 1, 2)),
               to_array(k.initial.view().slice(0, 1, 2))));
  }
  SECTION("threads") {
    const Case k(3, 100, 4, 3, 2, 4, 14);
    Random random(15);
    const auto y_bar = random.array<double, 4>(k.x.extents());
    Bars one(k), many(k);
    apply_vjp(exec::cpu{1}, k.matrix(), k.input(), View<const double, 4>(y_bar), {}, one.view());
    apply_vjp(exec::cpu{3}, k.matrix(), k.input(), View<const double, 4>(y_bar), {}, many.view());
    CHECK(same(one.b, many.b));
    CHECK(same(one.a, many.a));
    CHECK(same(one.x, many.x));
  }
}

TEST_CASE("SSD of strided and broadcast operands", "[nn][ssd]") {
  Case k(1, 70, 2, 3, 1, 4, 21);
  const Result expected = run(k);
  // x, B and C as parts of one projection.
  Array<double, 3> projection({1, 70, 40});
  const auto part = [&](index_t first, const Array<double, 4>& from) {
    const index_t count = from.extent(2), size = from.extent(3);
    for (index_t t = 0; t < 70; ++t) {
      for (index_t h = 0; h < count; ++h) {
        for (index_t p = 0; p < size; ++p)
          projection(0, t, first + h * size + p) = from(0, t, h, p);
      }
    }
    return View<const double, 4>(projection.data() + first, from.extents(), {2800, 40, size, 1});
  };
  SsdView<double> m = k.matrix();
  m.b = part(6, k.b), m.c = part(10, k.c);
  const Result strided = run(k, m, {part(0, k.x), k.z, k.initial});
  CHECK(same(strided.y, expected.y));

  SECTION("generators shared by the batch") {
    Case two(2, 70, 2, 3, 1, 4, 22);
    SsdView<double> shared = k.matrix();
    Array<double, 4> y(two.x.extents()), y_bar = Random(23).array<double, 4>(two.x.extents());
    apply(exec::cpu{}, shared, SsdInput<double>{two.x}, SsdOutput<double>{y});
    Array<double, 4> b_bar(k.b.extents()), both(two.b.extents());
    SsdCotangent<double> bar{};
    bar.b = b_bar;
    apply_vjp(exec::cpu{}, shared, SsdInput<double>{two.x}, View<const double, 4>(y_bar), {}, bar);
    bar.b = both;
    apply_vjp(exec::cpu{}, shared, SsdInput<double>{two.x}, View<const double, 4>(y_bar), {}, bar);
    double worst = 0;
    for (index_t i = 0; i < b_bar.size(); ++i) {
      worst = std::max(worst,
                       std::abs(b_bar.data()[i] - both.data()[i] - both.data()[i + b_bar.size()]));
    }
    CHECK(worst <= 1e-13);
  }
}

TEST_CASE("SSD in float and bf16 against double", "[nn][ssd]") {
  const Case k(1, 200, 2, 20, 1, 8, 31);
  const auto rounded = [](const auto& a, auto like) {
    using T = decltype(like);
    Array<T, std::remove_cvref_t<decltype(a)>::rank> r(a.extents());
    for (index_t i = 0; i < a.size(); ++i)
      r.data()[i] = static_cast<T>(static_cast<float>(a.data()[i]));
    return r;
  };
  const auto check = [&](auto like, double tolerance) {
    using T = decltype(like);
    const auto x = rounded(k.x, like), z = rounded(k.z, like), b = rounded(k.b, like),
               c = rounded(k.c, like);
    const auto dt = rounded(k.dt, like);
    const auto a = rounded(k.a, 0.f), bias = rounded(k.bias, 0.f);
    const auto d = rounded(k.d, 0.f);
    Array<T, 4> y(x.extents());
    apply(exec::cpu{}, SsdView<T>{dt, a, b, c, d, bias}, SsdInput<T>{x, z}, SsdOutput<T>{y});
    // The same numbers in double.
    const auto widened = [](const auto& v) {
      Array<double, std::remove_cvref_t<decltype(v)>::rank> r(v.extents());
      for (index_t i = 0; i < v.size(); ++i) r.data()[i] = static_cast<float>(v.data()[i]);
      return r;
    };
    const auto wx = widened(x), wz = widened(z), wb = widened(b), wc = widened(c);
    const auto wdt = widened(dt);
    const auto wa = widened(a), wbias = widened(bias);
    const auto wd = widened(d);
    Array<double, 4> exact(x.extents());
    apply(exec::cpu{}, SsdView<double>{wdt, wa, wb, wc, wd, wbias}, SsdInput<double>{wx, wz},
          SsdOutput<double>{exact});
    double largest = 0, worst = 0;
    for (index_t i = 0; i < exact.size(); ++i) {
      largest = std::max(largest, std::abs(exact.data()[i]));
      worst = std::max(worst, std::abs(exact.data()[i] - double(static_cast<float>(y.data()[i]))));
    }
    CHECK(worst <= tolerance * largest);
  };
  check(0.f, 200 * 6e-8);
  check(bf16(0.f), 1.0 / 256);
}

TEST_CASE("the matrix of SSD is semiseparable of its state size", "[nn][ssd]") {
  const Case k(1, 40, 1, 1, 1, 3, 41);
  Array<double, 2> m({40, 40});
  for (index_t j = 0; j < 40; ++j) {
    Array<double, 4> e({1, 40, 1, 1}), y(e.extents());
    e(0, j, 0, 0) = 1;
    SsdView<double> matrix = k.matrix();
    matrix.d = {};
    apply(exec::cpu{}, matrix, SsdInput<double>{e}, SsdOutput<double>{y});
    for (index_t i = 0; i < 40; ++i) m(i, j) = y(0, i, 0, 0);
  }
  CHECK(verify::semiseparable(m).order.lower == 3);
}

TEST_CASE("SSD refuses what does not fit", "[nn][ssd]") {
  const Case k(2, 10, 4, 3, 2, 5, 51);
  Array<double, 4> y(k.x.extents());
  const auto call = [&](SsdView<double> m, SsdInput<double> in, View<double, 4> to) {
    apply(exec::cpu{}, m, in, SsdOutput<double>{to});
  };
  SsdView<double> m = k.matrix();
  CHECK_NOTHROW(call(m, k.input(), y));
  m.b = m.b.slice(1, 0, 9);
  CHECK_THROWS_WITH(call(m, k.input(), y),
                    "nn::ssd::apply: B is 2 x 9 x 2 x 5, expected 2 x 10 x 2 x 5");
  m = k.matrix(), m.a = m.a.slice(0, 0, 3);
  CHECK_THROWS_WITH(call(m, k.input(), y), "nn::ssd::apply: a is 3, expected 4");
  m = k.matrix();
  CHECK_THROWS_AS(call(m, k.input(), y.view().slice(2, 0, 2)), ShapeError);
  CHECK_THROWS_AS(
      call(m, k.input(), View<double, 4>(const_cast<double*>(k.x.data()), k.x.extents())),
      DomainError);
  const std::vector<index_t> starts{0, 5, 10};
  m.starts = Starts<>(starts);
  CHECK_THROWS_WITH(call(m, k.input(), y),
                    "nn::ssd::apply: packed sequences in a batch of 2, expected 1");
  Case packed(1, 10, 1, 1, 1, 1, 52, 2);
  Array<double, 4> to(packed.x.extents());
  packed.starts = {0, 7, 5};
  CHECK_THROWS_WITH(call(packed.matrix(), packed.input(), to),
                    "nn::ssd::apply: sequences cover tokens 0 to 5, there are 0 to 10");
  packed.starts = {0, 12, 10};
  CHECK_THROWS_AS(call(packed.matrix(), packed.input(), to), DomainError);
}

TEST_CASE("starts of packed sequences", "[nn]") {
  CHECK(starts_of(std::vector<int>{0, 0, 1, 1, 1, 3}) == std::vector<index_t>{0, 2, 5, 6});
  CHECK(starts_of(std::vector<int>{}) == std::vector<index_t>{0});
}
