// Reverse mode of SSD on a device against the CPU in double, on the same numbers.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"
#include "structmat/nn/ssd.hpp"
#include "support/fixed_shape.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using nn::SsdCotangent, nn::SsdInput, nn::SsdView, nn::Starts;

namespace {

using Cuda = space::cuda;

/// Numbers that T, float and double hold.
template <class T, int Rank>
Array<double, Rank> numbers(std::mt19937& random, const std::array<index_t, Rank>& extents,
                            float low, float high) {
  Array<double, Rank> a(extents, uninitialized);
  std::uniform_real_distribution<float> d(low, high);
  for (double& v : a) v = static_cast<double>(static_cast<float>(T(d(random))));
  return a;
}
template <class T, int Rank>
Array<T, Rank> rounded(const Array<double, Rank>& from) {
  Array<T, Rank> a(from.extents(), uninitialized);
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = T(static_cast<float>(from.data()[i]));
  return a;
}
template <class U, int Rank>
bool same_bits(const Array<U, Rank>& a, const Array<U, Rank>& b) {
  return a.extents() == b.extents() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), sizeof(U) * static_cast<std::size_t>(a.size())) == 0);
}
Array<index_t, 1> array_of(const std::vector<index_t>& starts) {
  Array<index_t, 1> a({static_cast<index_t>(starts.size())}, uninitialized);
  for (index_t i = 0; i < a.size(); ++i) a(i) = starts[i];
  return a;
}

struct Shape {
  index_t batch, length, heads, groups, channels, states;
  std::vector<index_t> starts{};
  bool gate = false, skip_a_head = false, accumulate = false, softplus = true;
  float low = 0, high = INFINITY;
};

/// Arrays of all operands, or of all cotangents.
template <class T, class R, class Space>
struct Arrays {
  Array<T, 4, Space> x, z, b, c;
  Array<T, 3, Space> dt;
  Array<R, 1, Space> a, bias;
  Array<R, 2, Space> d;
  Array<R, 4, Space> state;
};
template <class T>
Arrays<T, float, Cuda> on_device(const Arrays<double, double, space::host>& v) {
  const auto send = [](const auto& array) { return to_device(rounded<T>(array)); };
  const auto send_float = [](const auto& array) { return to_device(rounded<float>(array)); };
  return {send(v.x),       send(v.z),          send(v.b),       send(v.c),          send(v.dt),
          send_float(v.a), send_float(v.bias), send_float(v.d), send_float(v.state)};
}
template <class T>
Arrays<T, float, space::host> on_host(const Arrays<T, float, Cuda>& v) {
  return {to_host(v.x), to_host(v.z),    to_host(v.b), to_host(v.c),    to_host(v.dt),
          to_host(v.a), to_host(v.bias), to_host(v.d), to_host(v.state)};
}
template <class T, class R, class Space>
SsdCotangent<T, Space> cotangent(Arrays<T, R, Space>& v, const Shape& s) {
  SsdCotangent<T, Space> bar{v.x, v.z, v.dt, v.a, v.b, v.c, {}, v.bias, v.state, s.accumulate};
  bar.d = s.skip_a_head ? View<R, 2, Space>(v.d.data(), {s.heads, s.channels}, {s.channels, 0})
                        : View<R, 2, Space>(v.d);
  if (!s.gate) bar.z = {};
  return bar;
}
template <class T, class R, class Space>
SsdView<T, Space> matrix(const Arrays<T, R, Space>& v, const Shape& s,
                         const Starts<Space>& starts) {
  SsdView<T, Space> m{v.dt, v.a, v.b, v.c, {}, v.bias, s.softplus};
  m.d = s.skip_a_head ? View<const R, 2, Space>(v.d.data(), {s.heads, s.channels}, {s.channels, 0})
                      : View<const R, 2, Space>(v.d);
  m.dt_min = static_cast<R>(s.low), m.dt_max = static_cast<R>(s.high);
  m.starts = starts;
  return m;
}
template <class T, class R, class Space>
SsdInput<T, Space> input(const Arrays<T, R, Space>& v, const Shape& s) {
  SsdInput<T, Space> in{v.x};
  if (s.gate) in.z = v.z;
  in.initial_state = v.state;
  return in;
}

template <class T>
struct Case {
  explicit Case(const Shape& s, float step = 0.5f, unsigned seed = 5) : shape(s) {
    std::mt19937 random(seed);
    const std::array<index_t, 4> like_x{s.batch, s.length, s.heads, s.channels},
        like_b{s.batch, s.length, s.groups, s.states},
        like_state{s.starts.empty() ? s.batch : static_cast<index_t>(s.starts.size()) - 1, s.heads,
                   s.channels, s.states};
    const auto fill = [&] {
      return Arrays<double, double, space::host>{
          numbers<T, 4>(random, like_x, -1, 1),
          numbers<T, 4>(random, like_x, -3, 3),
          numbers<T, 4>(random, like_b, -1, 1),
          numbers<T, 4>(random, like_b, -1, 1),
          numbers<T, 3>(random, {s.batch, s.length, s.heads}, s.softplus ? -3 : 0, step),
          numbers<float, 1>(random, {s.heads}, -1, -0.05f),
          numbers<float, 1>(random, {s.heads}, s.softplus ? -1 : 0, 1),
          numbers<float, 2>(random, {s.heads, s.channels}, -1, 1),
          numbers<float, 4>(random, like_state, -1, 1)};
    };
    of = fill(), bar = fill();
    y_bar = numbers<T, 4>(random, like_x, -1, 1);
    last_bar = numbers<float, 4>(random, like_state, -1, 1);
    starts = array_of(s.starts);
  }

  Arrays<double, double, space::host> expected() const {
    Arrays<double, double, space::host> result = bar;
    apply_vjp(exec::cpu{}, matrix(of, shape, Starts<>(starts)), input(of, shape),
              View<const double, 4>(y_bar), View<const double, 4>(last_bar),
              cotangent(result, shape));
    return result;
  }
  Arrays<T, float, space::host> computed() const {
    const auto device = on_device<T>(of);
    auto result = on_device<T>(bar);
    const auto y = to_device(rounded<T>(y_bar));
    const auto last = to_device(rounded<float>(last_bar));
    const auto sequences = to_device(starts);
    const auto m = matrix(device, shape, Starts<Cuda>(sequences));
    const auto in = input(device, shape);
    Array<std::byte, 1, Cuda> workspace({apply_vjp_workspace_bytes(m, in)}, uninitialized);
    apply_vjp(exec::cuda{nullptr, workspace}, m, in, View<const T, 4, Cuda>(y),
              View<const float, 4, Cuda>(last), cotangent(result, shape));
    return on_host(result);
  }

  Shape shape;
  Arrays<double, double, space::host> of, bar;
  Array<double, 4> y_bar, last_bar;
  Array<index_t, 1> starts;
};

/// The largest error over the largest number.
template <class U, int Rank>
double error(const Array<U, Rank>& got, const Array<double, Rank>& expected) {
  double worst = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    const double v = static_cast<double>(static_cast<float>(got.data()[i]));
    if (std::isnan(v)) return INFINITY;
    worst = std::max(worst, std::abs(v - expected.data()[i]));
    largest = std::max(largest, std::abs(expected.data()[i]));
  }
  return largest == 0 ? worst : worst / largest;
}

/// float: sums of a few hundred numbers of both signs. bf16: results are rounded, and so are entries of a chunk's
/// matrices and states: half a unit of 2^-8 each, where a handful of them meet.
template <class T>
constexpr double accuracy = std::is_same_v<T, float> ? 1e-5 : 0.02;

template <class T>
void check(const Case<T>& k) {
  const auto expected = k.expected();
  const auto got = k.computed();
  const auto close = [](const char* name, const auto& a, const auto& b) {
    INFO(name);
    CHECK(error(a, b) <= accuracy<T>);
  };
  close("x", got.x, expected.x);
  if (k.shape.gate) close("z", got.z, expected.z);
  close("dt", got.dt, expected.dt);
  close("B", got.b, expected.b), close("C", got.c, expected.c);
  close("a", got.a, expected.a), close("dt_bias", got.bias, expected.bias);
  close("D", got.d, expected.d);
  close("initial_state", got.state, expected.state);
}

template <class T>
bool same(const Arrays<T, float, space::host>& a, const Arrays<T, float, space::host>& b) {
  return same_bits(a.x, b.x) && same_bits(a.z, b.z) && same_bits(a.b, b.b) && same_bits(a.c, b.c) &&
         same_bits(a.dt, b.dt) && same_bits(a.a, b.a) && same_bits(a.bias, b.bias) &&
         same_bits(a.d, b.d) && same_bits(a.state, b.state);
}

}  // namespace

TEMPLATE_TEST_CASE("reverse mode of SSD on a device is that of the CPU", "[nn_ssd_vjp]", float,
                   bf16) {
  // {batch, L, heads, groups, P, N, starts, gate, D a head, accumulate}
  std::vector<Shape> shapes{
      {2, 67, 4, 2, 16, 16, {}, true, false, true},
      {1, 130, 2, 1, 64, 20},
      {1, 1, 1, 1, 1, 1},
      {1, 64, 2, 2, 3, 5, {}, false, true},
      {1, 70, 2, 1, 80, 16, {}, true, false, true},
      {1, 65, 1, 1, 8, 136, {}, false, false, true},
      {1, 150, 2, 1, 24, 8, {0, 77, 77, 78, 150}, false, true},
  };
  if (!test::quick()) {
    shapes.push_back({2, 300, 8, 1, 64, 128, {}, true});
    shapes.push_back({1, 4500, 4, 2, 64, 64});
    shapes.push_back({1, 333, 3, 3, 130, 200, {}, true, true, true});
  }
  for (const Shape& s : shapes) {
    INFO(s.batch << " " << s.length << " " << s.heads << " " << s.groups << " " << s.channels << " "
                 << s.states);
    check(Case<TestType>(s));
  }
}

TEMPLATE_TEST_CASE("steps, clamps and decays of reverse mode of SSD on a device", "[nn_ssd_vjp]",
                   float, bf16) {
  Shape s{1, 70, 2, 1, 8, 8};
  SECTION("clamped steps") {
    s.low = 0.1f, s.high = 0.6f;
    check(Case<TestType>(s));
  }
  SECTION("steps as they are") {
    s.softplus = false;
    check(Case<TestType>(s));
  }
  SECTION("one huge step") {
    s.softplus = false;
    Case<TestType> k(s);
    k.of.dt(0, 33, 1) = 1e9;
    k.of.b(0, 33, 0, 0) = 1e-9;
    const auto got = k.computed();
    for (const auto& v : got.dt) CHECK(std::isfinite(static_cast<float>(v)));
    for (const auto& v : got.x) CHECK(std::isfinite(static_cast<float>(v)));
  }
}

TEST_CASE("known cotangents of SSD on a device", "[nn_ssd_vjp]") {
  // H = P = N = 1, B = C = x = y_bar = 1.
  struct Line {
    Line(index_t length, float step, float a_)
        : one({1, length, 1, 1}),
          dt({1, length, 1}),
          a({1}),
          x_bar({1, length, 1, 1}),
          dt_bar({1, length, 1}),
          a_bar({1}),
          state({1, 1, 1, 1}),
          state_bar({1, 1, 1, 1}) {
      std::fill(one.begin(), one.end(), 1.0f);
      std::fill(dt.begin(), dt.end(), step);
      a(0) = a_;
    }
    void run(float x_value = 1, bool softplus = false) {
      Array<float, 4> values(one.extents());
      std::fill(values.begin(), values.end(), x_value);
      const auto d_x = to_device(values), d_one = to_device(one), d_state = to_device(state);
      const auto d_dt = to_device(dt);
      const auto d_a = to_device(a);
      Array<float, 4, Cuda> d_x_bar(one.extents(), uninitialized),
          d_state_bar(state.extents(), uninitialized);
      Array<float, 3, Cuda> d_dt_bar(dt.extents(), uninitialized);
      Array<float, 1, Cuda> d_a_bar({1}, uninitialized);
      SsdView<float, Cuda> m{d_dt, d_a, d_one, d_one};
      m.softplus = softplus;
      SsdInput<float, Cuda> in{d_x, {}, d_state};
      SsdCotangent<float, Cuda> bar{d_x_bar, {}, d_dt_bar, d_a_bar};
      bar.initial_state = d_state_bar;
      bar.accumulate = false;
      Array<std::byte, 1, Cuda> workspace({apply_vjp_workspace_bytes(m, in)}, uninitialized);
      apply_vjp(exec::cuda{nullptr, workspace}, m, in, View<const float, 4, Cuda>(d_one), {}, bar);
      x_bar = to_host(d_x_bar), dt_bar = to_host(d_dt_bar), a_bar = to_host(d_a_bar),
      state_bar = to_host(d_state_bar);
    }
    Array<float, 4> one;
    Array<float, 3> dt;
    Array<float, 1> a;
    Array<float, 4> x_bar;
    Array<float, 3> dt_bar;
    Array<float, 1> a_bar;
    Array<float, 4> state, state_bar;
  };
  SECTION("steady state") {
    Line k(300, 0.1f, -1);
    k.run();
    CHECK(k.x_bar(0, 0, 0, 0) == Approx(1.0508331944774).epsilon(1e-6));
    CHECK(k.x_bar(0, 299, 0, 0) == Approx(0.1).epsilon(1e-6));
    CHECK(k.dt_bar(0, 0, 0) == Approx(10.508331944774).epsilon(2e-6));
    CHECK(k.dt_bar(0, 150, 0) == Approx(0.51666401152).epsilon(2e-5));
    CHECK(k.dt_bar(0, 299, 0) == Approx(0.04916680552).epsilon(2e-5));
    CHECK(k.a_bar(0) == Approx(279.7501333).epsilon(2e-6));
  }
  SECTION("a decay beyond the range of numbers") {
    Line k(512, 1, -1000);
    k.run();
    for (index_t t = 0; t < 512; ++t) {
      REQUIRE(k.x_bar(0, t, 0, 0) == 1);
      REQUIRE(k.dt_bar(0, t, 0) == 1);
    }
    CHECK(k.a_bar(0) == 0);
  }
  SECTION("the ends of softplus") {
    Line k(2, 100, -1);
    k.dt(0, 1, 0) = -100;
    k.run(1, true);
    CHECK(std::isfinite(k.dt_bar(0, 0, 0)));
    CHECK(std::abs(k.dt_bar(0, 1, 0)) < 1e-30f);
    CHECK(k.x_bar(0, 0, 0, 0) == Approx(200));
  }
  SECTION("initial state alone") {
    Line k(300, 0.1f, -1);
    k.state(0, 0, 0, 0) = 1;
    k.run(0);
    CHECK(k.state_bar(0, 0, 0, 0) == Approx(9.508331944774).epsilon(2e-6));
  }
}

TEMPLATE_TEST_CASE("cotangents of SSD repeat, in batches and packed", "[nn_ssd_vjp]", float, bf16) {
  const index_t length = test::quick() ? 70 : 300;
  SECTION("thirty times") {
    const Case<TestType> k({1, length, 4, 2, 24, 20, {}, true});
    const auto first = k.computed();
    for (int i = 0; i < (test::quick() ? 2 : 30); ++i) CHECK(same<TestType>(k.computed(), first));
  }
  SECTION("a sample alone") {
    const Case<TestType> k({2, length, 2, 1, 24, 20, {}, true});
    const auto all = k.computed();
    Case<TestType> one = k;
    one.shape.batch = 1;
    const auto pick = [](auto& v) { v = to_array(v.view().slice(0, 1, 2)); };
    const auto pick_all = [&](Arrays<double, double, space::host>& v) {
      pick(v.x), pick(v.z), pick(v.b), pick(v.c), pick(v.dt), pick(v.state);
    };
    pick_all(one.of), pick_all(one.bar), pick(one.y_bar), pick(one.last_bar);
    const auto got = one.computed();
    const auto second = [](const auto& v) { return to_array(v.view().slice(0, 1, 2)); };
    CHECK(same_bits(got.x, second(all.x)));
    CHECK(same_bits(got.z, second(all.z)));
    CHECK(same_bits(got.b, second(all.b)));
    CHECK(same_bits(got.c, second(all.c)));
    CHECK(same_bits(got.dt, second(all.dt)));
    CHECK(same_bits(got.state, second(all.state)));
  }
  SECTION("packed") {
    const Case<TestType> k({1, 150, 2, 1, 8, 20, {0, 77, 77, 78, 150}, true});
    const auto all = k.computed();
    for (index_t s = 0; s < 4; ++s) {
      const index_t begin = k.starts(s), end = k.starts(s + 1);
      if (begin == end) continue;
      Case<TestType> one = k;
      one.shape.starts.clear(), one.starts = {}, one.shape.length = end - begin;
      const auto pick = [&](auto& v) { v = to_array(v.view().slice(1, begin, end)); };
      const auto pick_all = [&](Arrays<double, double, space::host>& v) {
        pick(v.x), pick(v.z), pick(v.b), pick(v.c), pick(v.dt);
        v.state = to_array(v.state.view().slice(0, s, s + 1));
      };
      pick_all(one.of), pick_all(one.bar), pick(one.y_bar);
      one.last_bar = to_array(k.last_bar.view().slice(0, s, s + 1));
      const auto got = one.computed();
      const auto part = [&](const auto& v) { return to_array(v.view().slice(1, begin, end)); };
      CHECK(same_bits(got.x, part(all.x)));
      CHECK(same_bits(got.z, part(all.z)));
      CHECK(same_bits(got.b, part(all.b)));
      CHECK(same_bits(got.c, part(all.c)));
      CHECK(same_bits(got.dt, part(all.dt)));
      CHECK(same_bits(got.state, to_array(all.state.view().slice(0, s, s + 1))));
    }
  }
}

TEST_CASE("strides of cotangents of SSD, those not wanted, and refusals", "[nn_ssd_vjp]") {
  const Case<bf16> k({1, 70, 2, 1, 8, 16});
  const auto expected = k.computed();
  const auto device = on_device<bf16>(k.of);
  const auto y = to_device(rounded<bf16>(k.y_bar));
  const auto last = to_device(rounded<float>(k.last_bar));
  const auto m = matrix(device, k.shape, Starts<Cuda>());
  const auto in = input(device, k.shape);
  Array<std::byte, 1, Cuda> workspace({apply_vjp_workspace_bytes(m, in)}, uninitialized);
  const exec::cuda e{nullptr, workspace};
  const View<const bf16, 4, Cuda> y_bar(y);
  const View<const float, 4, Cuda> last_bar(last);
  SECTION("one at a time, channels apart") {
    Array<bf16, 4, Cuda> x_bar({1, 8, 2, 70}, uninitialized);
    SsdCotangent<bf16, Cuda> bar{};
    bar.accumulate = false;
    bar.x = View<bf16, 4, Cuda>(x_bar.data(), {1, 70, 2, 8}, {1120, 1, 70, 140});
    apply_vjp(e, m, in, y_bar, last_bar, bar);
    const auto got = to_host(x_bar);
    for (index_t t = 0; t < 70; ++t) {
      for (index_t h = 0; h < 2; ++h) {
        for (index_t p = 0; p < 8; ++p) CHECK(got(0, p, h, t).bits == expected.x(0, t, h, p).bits);
      }
    }
    Array<float, 1, Cuda> a_bar({2}, uninitialized);
    SsdCotangent<bf16, Cuda> a_alone{};
    a_alone.accumulate = false, a_alone.a = a_bar;
    apply_vjp(e, m, in, y_bar, last_bar, a_alone);
    CHECK(same_bits(to_host(a_bar), expected.a));
  }
  SECTION("refusals") {
    auto result = on_device<bf16>(k.bar);
    SsdCotangent<bf16, Cuda> bar = cotangent(result, k.shape);
    bar.b = View<bf16, 4, Cuda>(result.b.data(), {1, 70, 1, 16}, {0, 0, 16, 1});
    CHECK_THROWS_AS(apply_vjp(e, m, in, y_bar, last_bar, bar), Unsupported);
    bar = cotangent(result, k.shape);
    bar.x = View<bf16, 4, Cuda>(const_cast<bf16*>(y.data()), y.extents());
    CHECK_THROWS_AS(apply_vjp(e, m, in, y_bar, last_bar, bar), Unsupported);
    bar.x = View<bf16, 4, Cuda>(const_cast<bf16*>(device.x.data()), y.extents());
    CHECK_THROWS_AS(apply_vjp(e, m, in, y_bar, last_bar, bar), DomainError);
    bar = cotangent(result, k.shape);
    CHECK_THROWS_AS(apply_vjp(exec::cuda{}, m, in, y_bar, last_bar, bar), DomainError);
    bar.dt = bar.dt.slice(1, 0, 9);
    CHECK_THROWS_AS(apply_vjp(e, m, in, y_bar, last_bar, bar), ShapeError);
  }
  SECTION("no tokens") {
    SsdCotangent<bf16, Cuda> bar{};
    Array<float, 1, Cuda> a_bar({2}, uninitialized);
    bar.accumulate = false, bar.a = a_bar;
    SsdView<bf16, Cuda> none = m;
    none.dt = none.dt.slice(1, 0, 0), none.b = none.b.slice(1, 0, 0),
    none.c = none.c.slice(1, 0, 0);
    apply_vjp(e, none, SsdInput<bf16, Cuda>{in.x.slice(1, 0, 0)}, y_bar.slice(1, 0, 0), {}, bar);
    CHECK(to_host(a_bar)(0) == 0);
    CHECK(to_host(a_bar)(1) == 0);
  }
}

TEST_CASE("reverse mode of SSD has a fixed shape", "[nn_fixed_shape]") {
  for (const bool packed : {false, true}) {
    Shape s{1, 70, 2, 1, 8, 16, {}, true, false, true};
    if (packed) s.starts = {0, 40, 70};
    const Case<bf16> k(s);
    const auto device = on_device<bf16>(k.of);
    auto bar = on_device<bf16>(k.bar);
    const auto y = to_device(rounded<bf16>(k.y_bar));
    const auto last = to_device(rounded<float>(k.last_bar));
    const auto starts = to_device(k.starts);
    const auto m = matrix(device, s, Starts<Cuda>(starts));
    const auto in = input(device, s);
    test::check_fixed_shape(
        "nn/ssd.hpp apply_vjp Ssd", apply_vjp_workspace_bytes(m, in),
        [&](const exec::cuda& e) {
          apply_vjp(e, m, in, View<const bf16, 4, Cuda>(y), View<const float, 4, Cuda>(last),
                    cotangent(bar, s));
        },
        bar.x, bar.z, bar.b, bar.c, bar.dt, bar.a, bar.bias, bar.d, bar.state);
  }
}
