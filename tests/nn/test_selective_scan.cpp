#include "structmat/nn/selective_scan.hpp"

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

template <class S>
struct Case {
  index_t batch, length, channels, states, groups;
  Array<double, 3> u, z, delta;
  Array<S, 2> a, b, c;
  Array<S, 4> b_varying, c_varying;
  Array<double, 1> d, bias;
  Array<S, 3> initial;
  Hold hold = Hold::euler;
  bool b_of_data = true, c_of_data = true;
  std::vector<index_t> starts{};

  Case(index_t batch_, index_t length_, index_t channels_, index_t states_, index_t groups_,
       unsigned seed, index_t sequences = 0)
      : batch(batch_), length(length_), channels(channels_), states(states_), groups(groups_) {
    Random random(seed);
    u = random.array<double, 3>({batch, length, channels});
    z = random.array<double, 3>({batch, length, channels});
    delta = random.array<double, 3>({batch, length, channels});
    a = random.array<S, 2>({channels, states});
    for (S& v : a) v -= 1.2;
    b = random.array<S, 2>({channels, states}), c = random.array<S, 2>({channels, states});
    b_varying = random.array<S, 4>({batch, length, groups, states});
    c_varying = random.array<S, 4>({batch, length, groups, states});
    d = random.array<double, 1>({channels}), bias = random.array<double, 1>({channels});
    initial = random.array<S, 3>({sequences > 0 ? sequences : batch, channels, states});
  }
  SelectiveScanView<double, S> matrix() const {
    SelectiveScanView<double, S> m{delta, a, {}, {}, d, bias, hold};
    if (b_of_data)
      m.b.varying = b_varying;
    else
      m.b.constant = b;
    if (c_of_data)
      m.c.varying = c_varying;
    else
      m.c.constant = c;
    if (!starts.empty()) m.starts = Starts<>(starts);
    return m;
  }
  SelectiveScanInput<double, S> input() const { return {u, z, initial}; }
};

template <class S>
struct Result {
  Array<double, 3> y;
  Array<S, 3> final_state;
};
template <class S>
Result<S> run(const Case<S>& k) {
  Result<S> r{Array<double, 3>(k.u.extents()), Array<S, 3>(k.initial.extents())};
  apply(exec::cpu{}, k.matrix(), k.input(), SelectiveScanOutput<double, S>{r.y, r.final_state});
  return r;
}
bool same(const auto& a, const auto& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

TEMPLATE_TEST_CASE("selective scans by their definition", "[nn][selective_scan]", double,
                   std::complex<double>) {
  using S = TestType;
  Case<S> k(2, GENERATE(1, 2, 20), 4, 3, 2, 1);
  k.hold = GENERATE(Hold::euler, Hold::zero, Hold::first);
  k.b_of_data = GENERATE(true, false), k.c_of_data = GENERATE(true, false);
  const Result<S> r = run(k);
  double worst = 0;
  for (index_t e = 0; e < 2; ++e) {
    for (index_t i = 0; i < 4; ++i) {
      std::vector<S> h(3);
      for (index_t n = 0; n < 3; ++n) h[n] = k.initial(e, i, n);
      for (index_t t = 0; t < k.length; ++t) {
        const double step = std::log1p(std::exp(k.delta(e, t, i) + k.bias(i))), x = k.u(e, t, i);
        double sum = 0;
        for (index_t n = 0; n < 3; ++n) {
          const S a = k.a(i, n), b = k.b_of_data ? k.b_varying(e, t, i / 2, n) : k.b(i, n),
                  c = k.c_of_data ? k.c_varying(e, t, i / 2, n) : k.c(i, n);
          const S alpha = k.hold == Hold::first ? 1.0 + step * a : std::exp(step * a);
          const S beta = k.hold == Hold::zero ? (std::exp(step * a) - 1.0) / a * b : step * b;
          h[n] = alpha * h[n] + beta * x;
          sum += std::real(c * h[n]);
        }
        const double v = (is_complex_v<S> ? 2 : 1) * sum + k.d(i) * x;
        worst = std::max(worst,
                         std::abs(v * k.z(e, t, i) / (1 + std::exp(-k.z(e, t, i))) - r.y(e, t, i)));
      }
      for (index_t n = 0; n < 3; ++n)
        worst = std::max(worst, std::abs(h[n] - r.final_state(e, i, n)));
    }
  }
  CHECK(worst <= 1e-12);
}

TEMPLATE_TEST_CASE("cotangents of selective scans by central differences", "[nn][selective_scan]",
                   double, std::complex<double>) {
  using S = TestType;
  Case<S> k(2, GENERATE(1, 5), 4, 2, 2, 5);
  k.hold = GENERATE(Hold::euler, Hold::zero, Hold::first);
  k.b_of_data = GENERATE(true, false), k.c_of_data = k.b_of_data;
  if (k.hold == Hold::zero) k.a(1, 0) = 0, k.a(1, 1) = S(-0.01);  // where the quotient cancels
  Random random(6);
  const auto y_bar = random.array<double, 3>(std::array<index_t, 3>{2, k.length, 4});
  const auto final_bar = random.array<S, 3>(std::array<index_t, 3>{2, 4, 2});
  const auto loss = [&] {
    const Result<S> r = run(k);
    return test::inner(y_bar, r.y) + test::inner(final_bar, r.final_state);
  };
  Array<double, 3> u_bar(k.u.extents()), z_bar(k.z.extents()), delta_bar(k.delta.extents());
  Array<S, 2> a_bar(k.a.extents()), b_bar(k.b.extents()), c_bar(k.c.extents());
  Array<S, 4> bv_bar(k.b_varying.extents()), cv_bar(k.c_varying.extents());
  Array<double, 1> d_bar(k.d.extents()), bias_bar(k.bias.extents());
  Array<S, 3> initial_bar(k.initial.extents());
  SelectiveScanCotangent<double, S> bar{u_bar, z_bar, delta_bar, a_bar};
  if (k.b_of_data) bar.b_varying = bv_bar, bar.c_varying = cv_bar;
  if (!k.b_of_data) bar.b = b_bar, bar.c = c_bar;
  bar.d = d_bar, bar.delta_bias = bias_bar, bar.initial_state = initial_bar;
  apply_vjp(exec::cpu{}, k.matrix(), k.input(), View<const double, 3>(y_bar),
            View<const S, 3>(final_bar), bar);
  test::check_gradient("u", k.u, u_bar, loss);
  test::check_gradient("z", k.z, z_bar, loss);
  test::check_gradient("delta", k.delta, delta_bar, loss);
  test::check_gradient("a", k.a, a_bar, loss, 1e-7);
  if (k.b_of_data) {
    test::check_gradient("b", k.b_varying, bv_bar, loss);
    test::check_gradient("c", k.c_varying, cv_bar, loss);
  } else {
    test::check_gradient("b", k.b, b_bar, loss);
    test::check_gradient("c", k.c, c_bar, loss);
  }
  test::check_gradient("d", k.d, d_bar, loss);
  test::check_gradient("delta_bias", k.bias, bias_bar, loss, 1e-7);
  test::check_gradient("initial_state", k.initial, initial_bar, loss);
}

TEST_CASE("known results of selective scans", "[nn][selective_scan]") {
  const index_t length = 130;
  Array<double, 3> u({1, length, 1}), delta({1, length, 1}), y(u.extents()), y_bar(u.extents());
  Array<double, 2> a({1, 1}), one({1, 1}), a_bar({1, 1});
  Array<double, 1> bias({1}), bias_bar({1});
  std::fill(u.begin(), u.end(), 1.0);
  std::fill(y_bar.begin(), y_bar.end(), 1.0);
  a(0, 0) = -1, one(0, 0) = 1, bias(0) = 1;
  SelectiveScanView<double> m{delta, a, {one}, {one}, {}, bias};
  apply(exec::cpu{}, m, SelectiveScanInput<double>{u}, SelectiveScanOutput<double>{y});
  CHECK(y(0, 0, 0) == Approx(1.3132616875).epsilon(1e-10));
  CHECK(y(0, 1, 0) == Approx(1.6664521524).epsilon(1e-10));
  CHECK(y(0, 129, 0) == Approx(1.7963836633).epsilon(1e-10));
  SelectiveScanCotangent<double> bar{};
  bar.a = a_bar, bar.delta_bias = bias_bar;
  apply_vjp(exec::cpu{}, m, SelectiveScanInput<double>{u}, View<const double, 3>(y_bar), {}, bar);
  CHECK(a_bar(0, 0) == Approx(111.3169979).epsilon(1e-9));
  CHECK(bias_bar(0) == Approx(67.664846976).epsilon(1e-10));

  SECTION("holds of a step of 0.9 at a = -0.7") {
    Array<double, 3> x({1, 1, 1}), step({1, 1, 1}), v({1, 1, 1});
    x(0, 0, 0) = 1, step(0, 0, 0) = 0.9, a(0, 0) = -0.7;
    SelectiveScanView<double> s{step, a, {one}, {one}};
    s.softplus = false;
    const auto value = [&](Hold hold) {
      s.hold = hold;
      apply(exec::cpu{}, s, SelectiveScanInput<double>{x}, SelectiveScanOutput<double>{v});
      return v(0, 0, 0);
    };
    CHECK(value(Hold::euler) == 0.9);
    CHECK(value(Hold::zero) == Approx(0.668).epsilon(1e-3));
  }
  SECTION("a first-order step that forgets all") {
    Array<double, 3> x({1, 2, 1}), step({1, 2, 1}), v({1, 2, 1});
    x(0, 0, 0) = 5, x(0, 1, 0) = 3, step(0, 0, 0) = 2, step(0, 1, 0) = 1, a(0, 0) = -1;
    SelectiveScanView<double> s{step, a, {one}, {one}};
    s.softplus = false, s.hold = Hold::first;
    apply(exec::cpu{}, s, SelectiveScanInput<double>{x}, SelectiveScanOutput<double>{v});
    CHECK(v(0, 1, 0) == 3);
  }
}

TEST_CASE("selective scans in pieces, packed, on many threads", "[nn][selective_scan]") {
  using S = double;
  const Case<S> k(1, 50, 4, 3, 2, 11);
  const Result<S> whole = run(k);
  Array<double, 3> y(k.u.extents()), state = k.initial;
  for (index_t t = 0; t < 50; ++t) {
    SelectiveScanView<double> m = k.matrix();
    m.delta = m.delta.slice(1, t, t + 1);
    m.b.varying = m.b.varying.slice(1, t, t + 1), m.c.varying = m.c.varying.slice(1, t, t + 1);
    apply(exec::cpu{}, m,
          SelectiveScanInput<double>{k.u.view().slice(1, t, t + 1), k.z.view().slice(1, t, t + 1),
                                     state},
          SelectiveScanOutput<double>{y.view().slice(1, t, t + 1), state});
  }
  CHECK(same(y, whole.y));
  CHECK(same(state, whole.final_state));

  Case<S> packed(1, 50, 4, 3, 2, 12, 3);
  packed.starts = {0, 17, 17, 50};
  const Result<S> together = run(packed);
  const auto y_bar = Random(13).array<double, 3>(std::array<index_t, 3>{1, 50, 4});
  Array<double, 4> one(packed.b_varying.extents()), many(one.extents());
  SelectiveScanCotangent<double> bar{};
  bar.b_varying = one;
  apply_vjp(exec::cpu{1}, packed.matrix(), packed.input(), View<const double, 3>(y_bar), {}, bar);
  bar.b_varying = many;
  apply_vjp(exec::cpu{3}, packed.matrix(), packed.input(), View<const double, 3>(y_bar), {}, bar);
  CHECK(same(one, many));
  for (index_t s = 0; s < 3; ++s) {
    const index_t begin = packed.starts[s], end = packed.starts[s + 1];
    SelectiveScanView<double> m = packed.matrix();
    m.starts = {};
    m.delta = m.delta.slice(1, begin, end);
    m.b.varying = m.b.varying.slice(1, begin, end);
    m.c.varying = m.c.varying.slice(1, begin, end);
    Array<double, 3> alone({1, end - begin, 4}), last({1, 4, 3});
    apply(exec::cpu{}, m,
          SelectiveScanInput<double>{packed.u.view().slice(1, begin, end),
                                     packed.z.view().slice(1, begin, end),
                                     packed.initial.view().slice(0, s, s + 1)},
          SelectiveScanOutput<double>{alone, last});
    CHECK(same(alone, to_array(together.y.view().slice(1, begin, end))));
    CHECK(same(last, to_array(together.final_state.view().slice(0, s, s + 1))));
  }
}

TEST_CASE("selective scans refuse what does not fit", "[nn][selective_scan]") {
  const Case<double> k(2, 10, 4, 3, 2, 21);
  Array<double, 3> y(k.u.extents());
  SelectiveScanView<double> m = k.matrix();
  m.b.constant = k.b;
  const auto call = [&] { apply(exec::cpu{}, m, k.input(), SelectiveScanOutput<double>{y}); };
  CHECK_THROWS_WITH(call(), "nn::selective_scan::apply: b is both constant and of the data");
  m = k.matrix(), m.c.varying = m.c.varying.slice(1, 0, 9);
  CHECK_THROWS_WITH(call(),
                    "nn::selective_scan::apply: c is 2 x 9 x 2 x 3, expected 2 x 10 x 2 x 3");
  m = k.matrix(), m.b = {};
  CHECK_THROWS_AS(call(), ShapeError);
}
