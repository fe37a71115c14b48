// Single tokens of SSD on a device: against the CPU in double on the same numbers, and against whole sequences.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "structmat/core/array.hpp"
#include "structmat/nn/ssd.hpp"
#include "support/fixed_shape.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using nn::SsdInput, nn::SsdOutput, nn::SsdView;

namespace {

using Cuda = space::cuda;

template <class T>
double wide(T v) {
  return static_cast<double>(static_cast<float>(v));
}

/// Operands on the host; a sequence may have several tokens.
template <class T>
struct Layer {
  Layer(index_t batch, index_t length, index_t heads, index_t groups, index_t channels,
        index_t states)
      : x(random<T, 4>({batch, length, heads, channels}, -1, 1)),
        z(random<T, 4>({batch, length, heads, channels}, -3, 3)),
        b(random<T, 4>({batch, length, groups, states}, -1, 1)),
        c(random<T, 4>({batch, length, groups, states}, -1, 1)),
        dt(random<T, 3>({batch, length, heads}, -3, 1)),
        a(random<float, 1>({heads}, -1, -0.05)),
        bias(random<float, 1>({heads}, -1, 1)),
        d(random<float, 2>({heads, channels}, -1, 1)),
        initial(random<float, 4>({batch, heads, channels, states}, -1, 1)) {}

  template <class U, int Rank>
  Array<U, Rank> random(const std::array<index_t, Rank>& extents, double low, double high) {
    Array<U, Rank> array(extents, uninitialized);
    std::uniform_real_distribution<float> number(static_cast<float>(low), static_cast<float>(high));
    for (index_t i = 0; i < array.size(); ++i) array.data()[i] = U(number(gen));
    return array;
  }

  std::mt19937 gen{5};
  Array<T, 4> x, z, b, c;
  Array<T, 3> dt;
  Array<float, 1> a, bias;
  Array<float, 2> d;
  Array<float, 4> initial;
  bool gate = true, skip = true, biased = true, state = true, softplus = true;
  float dt_min = 0, dt_max = std::numeric_limits<float>::infinity();
};

/// A layer on the device; views of it may be changed.
template <class T>
struct OnDevice {
  explicit OnDevice(const Layer<T>& l)
      : x(to_device(l.x)),
        z(to_device(l.z)),
        b(to_device(l.b)),
        c(to_device(l.c)),
        dt(to_device(l.dt)),
        a(to_device(l.a)),
        bias(to_device(l.bias)),
        d(to_device(l.d)),
        initial(to_device(l.initial)),
        m{dt, a, b, c},
        in{x} {
    if (l.skip) m.d = d;
    if (l.biased) m.dt_bias = bias;
    if (l.gate) in.z = z;
    if (l.state) in.initial_state = initial;
    m.softplus = l.softplus, m.dt_min = l.dt_min, m.dt_max = l.dt_max;
  }

  Array<T, 4, Cuda> x, z, b, c;
  Array<T, 3, Cuda> dt;
  Array<float, 1, Cuda> a, bias;
  Array<float, 2, Cuda> d;
  Array<float, 4, Cuda> initial;
  SsdView<T, Cuda> m;
  SsdInput<T, Cuda> in;
};

template <class T>
struct Result {
  Array<T, 4> y;
  Array<float, 4> state;
};

template <class T>
Result<T> run(const SsdView<T, Cuda>& m, const SsdInput<T, Cuda>& in) {
  Array<T, 4, Cuda> y(in.x.extents(), uninitialized);
  Array<float, 4, Cuda> state({in.x.extent(0), in.x.extent(2), in.x.extent(3), m.b.extent(3)},
                              uninitialized);
  Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
  apply(exec::cuda{nullptr, workspace}, m, in, SsdOutput<T, Cuda>{y, state});
  return {to_host(y), to_host(state)};
}
template <class T>
Result<T> run(const Layer<T>& layer) {
  const OnDevice<T> on(layer);
  return run(on.m, on.in);
}

template <class U, class V>
bool same_bits(const U& a, const V& b) {
  return a.extents() == b.extents() &&
         std::memcmp(a.data(), b.data(), sizeof(*a.data()) * static_cast<std::size_t>(a.size())) ==
             0;
}
template <class T>
bool same_bits(const Result<T>& a, const Result<T>& b) {
  return same_bits(a.y, b.y) && same_bits(a.state, b.state);
}

template <class T, int Rank>
Array<double, Rank> widened(const Array<T, Rank>& from) {
  Array<double, Rank> to(from.extents(), uninitialized);
  for (index_t i = 0; i < from.size(); ++i) to.data()[i] = wide(from.data()[i]);
  return to;
}
template <class T, int Rank>
Array<double, Rank> magnitudes(const Array<T, Rank>& from) {
  Array<double, Rank> to = widened(from);
  for (double& v : to) v = std::abs(v);
  return to;
}

/// The CPU's result in double; or that of absolute values, which bounds the sums that errors are measured by.
struct Reference {
  Array<double, 4> y, state;
};
template <class T>
Reference reference(const Layer<T>& l, bool absolute) {
  const auto of = [&](const auto& array) { return absolute ? magnitudes(array) : widened(array); };
  const auto x = of(l.x), z = widened(l.z), b = of(l.b), c = of(l.c), initial = of(l.initial);
  const auto dt = widened(l.dt);
  const auto a = widened(l.a), bias = widened(l.bias);
  const auto d = of(l.d);
  SsdView<double> m{dt, a, b, c};
  if (l.skip) m.d = d;
  if (l.biased) m.dt_bias = bias;
  m.softplus = l.softplus, m.dt_min = l.dt_min, m.dt_max = l.dt_max;
  SsdInput<double> in{x};
  if (l.gate) in.z = z;
  if (l.state) in.initial_state = initial;
  Reference r{Array<double, 4>(x.extents()), Array<double, 4>(initial.extents())};
  apply(exec::cpu{}, m, in, SsdOutput<double>{r.y, r.state});
  return r;
}

/// Each number within `units` of float's eps times its sum of absolute values; y of bf16 is rounded once more.
template <class T>
void check_step(const Layer<T>& l) {
  const Result<T> got = run(l);
  const Reference expected = reference(l, false), size = reference(l, true);
  constexpr double eps = 0x1p-24, rounding = sizeof(T) == 2 ? 0x1p-8 : eps;
  // Delta and the decay some units each, then sums over the states of a lane and over lanes.
  const double units = 24 + static_cast<double>(l.b.extent(3)) / 8;
  const auto worst = [](const auto& numbers, const auto& right, const auto& allowed) {
    double ratio = 0;
    for (index_t i = 0; i < numbers.size(); ++i) {
      const double error = std::abs(wide(numbers.data()[i]) - right.data()[i]);
      if (std::isnan(error)) return std::numeric_limits<double>::infinity();
      ratio = std::max(ratio, error / (allowed(i) + 1e-30));
    }
    return ratio;
  };
  CHECK(worst(got.y, expected.y, [&](index_t i) {
          return rounding * std::abs(expected.y.data()[i]) +
                 units * eps * std::abs(size.y.data()[i]);
        }) < 1);
  CHECK(worst(got.state, expected.state,
              [&](index_t i) { return 24 * eps * size.state.data()[i]; }) < 1);
}

}  // namespace

TEMPLATE_TEST_CASE("a token of SSD", "[nn_ssd_step]", float, bf16) {
  using T = TestType;
  struct Shape {
    index_t batch, heads, groups, channels, states;
  };
  for (const Shape& s : {Shape{1, 1, 1, 1, 1}, Shape{3, 4, 2, 3, 5}, Shape{2, 6, 3, 64, 128},
                         Shape{2, 2, 1, 80, 130}, Shape{1, 2, 2, 130, 200}, Shape{2, 3, 1, 17, 16},
                         Shape{1, 2, 1, 16, 256}, Shape{70, 2, 1, 20, 8}}) {
    INFO("b" << s.batch << " H" << s.heads << " G" << s.groups << " P" << s.channels << " N"
             << s.states);
    check_step(Layer<T>(s.batch, 1, s.heads, s.groups, s.channels, s.states));
  }
}

TEMPLATE_TEST_CASE("a token of SSD without what may be absent", "[nn_ssd_step]", float, bf16) {
  for (int absent = 0; absent < 6; ++absent) {
    INFO("absent " << absent);
    Layer<TestType> l(2, 1, 4, 2, 20, 24);
    l.gate = absent != 0, l.skip = absent != 1, l.biased = absent != 2, l.state = absent != 3;
    l.softplus = absent != 4;
    if (absent == 5) l.dt_min = 0.25f, l.dt_max = 0.5f;
    if (absent == 4) l.dt_min = 0, l.dt_max = 1;
    check_step(l);
  }
  // Without final states y is the same.
  Layer<TestType> l(2, 1, 4, 2, 20, 24);
  const OnDevice<TestType> on(l);
  Array<TestType, 4, Cuda> y(l.x.extents());
  apply(exec::cuda{}, on.m, on.in, SsdOutput<TestType, Cuda>{y});
  CHECK(same_bits(to_host(y), run(l).y));
}

TEMPLATE_TEST_CASE("known tokens of SSD", "[nn_ssd_step]", float, bf16) {
  using T = TestType;
  // Delta = 1/2, decays 1/2^k: S = 2^-k + x B / 2, y = (3 S + x / 4) silu(z), in numbers that are exact.
  for (const int k : {0, 1, 3}) {
    Layer<T> l(1, 1, 1, 1, 2, 4);
    l.softplus = false, l.biased = false, l.gate = false;
    const auto fill = [](auto& array, float v) {
      for (auto& e : array) e = std::remove_reference_t<decltype(e)>(v);
    };
    fill(l.dt, 0.5f), fill(l.a, static_cast<float>(-2 * k * std::log(2.0))), fill(l.b, 1);
    fill(l.c, 3), fill(l.d, 0.25f), fill(l.initial, 1), fill(l.x, 2);
    l.x(0, 0, 0, 1) = T(-4.0f);
    const auto [y, state] = run(l);
    const double decay = std::ldexp(1, -k);
    for (index_t n = 0; n < 4; ++n) {
      CHECK(wide(state(0, 0, 0, n)) == Approx(decay + 1).epsilon(1e-6));
      CHECK(wide(state(0, 0, 1, n)) == Approx(decay - 2).epsilon(1e-6));
    }
    CHECK(wide(y(0, 0, 0, 0)) ==
          Approx(12 * (decay + 1) + 0.5).epsilon(sizeof(T) == 2 ? 4e-3 : 1e-6));
    CHECK(wide(y(0, 0, 0, 1)) ==
          Approx(12 * (decay - 2) - 1).epsilon(sizeof(T) == 2 ? 4e-3 : 1e-6));
  }
}

TEMPLATE_TEST_CASE("extreme steps of SSD", "[nn_ssd_step]", float, bf16) {
  using T = TestType;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Layer<T> l(1, 1, 3, 1, 4, 8);
  l.gate = l.skip = l.biased = false;
  // No step at all, a huge one, and an infinite one.
  l.dt(0, 0, 0) = T(-1e9f), l.dt(0, 0, 1) = T(1e9f), l.dt(0, 0, 2) = T(infinity);
  l.x(0, 0, 2, 0) = T(1.0f);
  const auto [y, state] = run(l);
  for (index_t p = 0; p < 4; ++p) {
    for (index_t n = 0; n < 8; ++n) {
      CHECK(state(0, 0, p, n) == l.initial(0, 0, p, n));
      const double added = wide(T(1e9f)) * wide(l.x(0, 0, 1, p)) * wide(l.b(0, 0, 0, n));
      CHECK(wide(state(0, 1, p, n)) == Approx(added).epsilon(1e-6));
      if (l.b(0, 0, 0, n) != T(0.0f)) CHECK(std::isinf(state(0, 2, 0, n)));
    }
  }

  // What is not a number stays in its row, its head or its group.
  Layer<T> bad(2, 1, 4, 2, 18, 8);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bad.x(0, 0, 0, 5) = T(nan), bad.dt(0, 0, 1) = T(nan), bad.b(1, 0, 1, 3) = T(nan);
  const auto r = run(bad);
  for (index_t entry = 0; entry < 2; ++entry) {
    for (index_t h = 0; h < 4; ++h) {
      for (index_t p = 0; p < 18; ++p) {
        const bool expected = entry == 0 ? h == 1 || (h == 0 && p == 5) : h >= 2;
        CHECK(std::isnan(wide(r.y(entry, 0, h, p))) == expected);
        CHECK(std::isnan(r.state(entry, h, p, 3)) == expected);
        CHECK(std::isnan(r.state(entry, h, p, 2)) == (expected && entry == 0));
      }
    }
  }
}

TEMPLATE_TEST_CASE("tokens of SSD in strided memory", "[nn_ssd_step]", float, bf16) {
  using T = TestType;
  constexpr index_t heads = 4, groups = 2, channels = 24, states = 40;
  const Layer<T> l(2, 1, heads, groups, channels, states);
  const Result<T> expected = run(l);
  OnDevice<T> on(l);
  const auto check = [&] { CHECK(same_bits(run(on.m, on.in), expected)); };

  // x, z, B, C and dt as slices of one projection's rows.
  const index_t inner = heads * channels, row = 2 * inner + 2 * groups * states + heads + 1;
  Array<T, 2> projection({2, row});
  for (index_t entry = 0; entry < 2; ++entry) {
    T* at = &projection(entry, 1);
    const auto put = [&](const auto& array) {
      const index_t count = array.size() / 2;
      for (index_t i = 0; i < count; ++i) *at++ = array.data()[entry * count + i];
    };
    put(l.x), put(l.z), put(l.b), put(l.c), put(l.dt);
  }
  const auto sliced = to_device(projection);
  const T* at = sliced.data() + 1;
  const auto slice = [&](index_t outer, index_t last) {
    const View<const T, 4, Cuda> v(at, {2, 1, outer, last}, {row, row, last, 1});
    at += outer * last;
    return v;
  };
  on.in.x = slice(heads, channels), on.in.z = slice(heads, channels);
  on.m.b = slice(groups, states), on.m.c = slice(groups, states);
  on.m.dt = View<const T, 3, Cuda>(at, {2, 1, heads}, {row, row, 1});
  check();

  // States whose rows run the other way round in memory, and y in every second number.
  Array<float, 4> turned({2, heads, states, channels});
  for (index_t entry = 0; entry < 2; ++entry) {
    for (index_t h = 0; h < heads; ++h) {
      for (index_t p = 0; p < channels; ++p) {
        for (index_t n = 0; n < states; ++n) {
          turned(entry, h, states - 1 - n, p) = l.initial(entry, h, p, n);
        }
      }
    }
  }
  auto held = to_device(turned);
  const index_t head = channels * states;
  const View<float, 4, Cuda> state(held.data() + (states - 1) * channels,
                                   {2, heads, channels, states},
                                   {heads * head, head, 1, -channels});
  on.in.initial_state = state;
  check();
  Array<T, 4, Cuda> wide_y({2, 1, heads, 2 * channels});
  const View<T, 4, Cuda> y(wide_y.data(), {2, 1, heads, channels},
                           {2 * inner, 2 * inner, 2 * channels, 2});
  apply(exec::cuda{}, on.m, on.in, SsdOutput<T, Cuda>{y, state});
  const auto last = to_host(held);
  const auto spread = to_host(wide_y);
  bool same = true;
  for (index_t entry = 0; entry < 2; ++entry) {
    for (index_t h = 0; h < heads; ++h) {
      for (index_t p = 0; p < channels; ++p) {
        same &= wide(spread(entry, 0, h, 2 * p)) == wide(expected.y(entry, 0, h, p));
        same &= wide(spread(entry, 0, h, 2 * p + 1)) == 0;
        for (index_t n = 0; n < states; ++n) {
          same &= last(entry, h, states - 1 - n, p) == expected.state(entry, h, p, n);
        }
      }
    }
  }
  CHECK(same);

  // One state, one step and one group of B and C for the whole batch.
  OnDevice<T> shared(l);
  const auto broadcast = [](auto& v) {
    auto strides = v.strides();
    auto extents = v.extents();
    extents[0] = 1;
    v = std::remove_reference_t<decltype(v)>(v.data(), extents, strides);
  };
  broadcast(shared.m.b), broadcast(shared.m.c), broadcast(shared.m.dt);
  broadcast(shared.in.initial_state);
  Layer<T> repeated = l;
  const auto repeat = [](auto& array) {
    const index_t half = array.size() / 2;
    std::copy_n(array.data(), half, array.data() + half);
  };
  repeat(repeated.b), repeat(repeated.c), repeat(repeated.dt), repeat(repeated.initial);
  CHECK(same_bits(run(shared.m, shared.in), run(repeated)));
}

TEMPLATE_TEST_CASE("tokens of SSD repeat bit for bit", "[nn_ssd_step]", float, bf16) {
  using T = TestType;
  const Layer<T> l(3, 1, 4, 2, 24, 32);
  const Result<T> expected = run(l);
  const OnDevice<T> on(l);
  const int times = test::once() ? 1 : 30;
  for (int i = 0; i < times; ++i) CHECK(same_bits(run(on.m, on.in), expected));

  // In place, as often as a decoder likes.
  auto state = to_device(l.initial);
  Array<T, 4, Cuda> y(l.x.extents());
  SsdInput<T, Cuda> in = on.in;
  in.initial_state = state;
  apply(exec::cuda{}, on.m, in, SsdOutput<T, Cuda>{y, state});
  CHECK(same_bits(Result<T>{to_host(y), to_host(state)}, expected));

  // A sample alone.
  const auto one = [](const auto& v) {
    auto extents = v.extents();
    auto strides = v.strides();
    extents[0] = 1;
    return std::remove_cvref_t<decltype(v)>(v.data() + v.stride(0), extents, strides);
  };
  SsdView<T, Cuda> m = on.m;
  in = on.in;
  m.dt = one(m.dt), m.b = one(m.b), m.c = one(m.c);
  in.x = one(in.x), in.z = one(in.z), in.initial_state = one(in.initial_state);
  const Result<T> alone = run(m, in);
  CHECK(std::memcmp(alone.y.data(), &expected.y(1, 0, 0, 0),
                    sizeof(T) * static_cast<std::size_t>(alone.y.size())) == 0);
  CHECK(std::memcmp(alone.state.data(), &expected.state(1, 0, 0, 0),
                    sizeof(float) * static_cast<std::size_t>(alone.state.size())) == 0);
}

TEMPLATE_TEST_CASE("prefill and steps of SSD are the whole sequence", "[nn_ssd_step]", float,
                   bf16) {
  using T = TestType;
  constexpr index_t length = 90, first = 70, heads = 2, channels = 16, states = 16;
  const Layer<T> l(2, length, heads, 1, channels, states);
  const OnDevice<T> on(l);
  const Result<T> whole = run(on.m, on.in);
  const auto tokens = [](const auto& v, index_t from, index_t count) {
    auto extents = v.extents();
    extents[1] = count;
    return std::remove_cvref_t<decltype(v)>(v.data() + from * v.stride(1), extents, v.strides());
  };
  Array<T, 4, Cuda> y(l.x.extents());
  auto state = to_device(l.initial);
  for (index_t from = 0; from < length; from += from == 0 ? first : 1) {
    const index_t count = from == 0 ? first : 1;
    SsdView<T, Cuda> m = on.m;
    SsdInput<T, Cuda> in = on.in;
    m.dt = tokens(m.dt, from, count), m.b = tokens(m.b, from, count);
    m.c = tokens(m.c, from, count);
    in.x = tokens(in.x, from, count), in.z = tokens(in.z, from, count), in.initial_state = state;
    Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
    CHECK((workspace.size() == 0) == (count == 1));
    apply(exec::cuda{nullptr, workspace}, m, in,
          SsdOutput<T, Cuda>{tokens(View<T, 4, Cuda>(y), from, count), state});
  }
  const auto worst = [](const auto& got, const auto& expected) {
    double error = 0, largest = 0;
    for (index_t i = 0; i < got.size(); ++i) {
      const double e = wide(expected.data()[i]);
      error = std::max(error, std::abs(wide(got.data()[i]) - e));
      largest = std::max(largest, std::abs(e));
    }
    return error / largest;
  };
  // The whole sequence's states and matrix entries are rounded to T, a step's are not.
  const double limit = sizeof(T) == 2 ? 0.015 : 4e-6;
  CHECK(worst(to_host(y), whole.y) < limit);
  CHECK(worst(to_host(state), whole.state) < limit);
}

TEST_CASE("a token of SSD refuses what does not fit", "[nn_ssd_step]") {
  const Layer<float> l(2, 1, 2, 1, 8, 16);
  OnDevice<float> on(l);
  const exec::cuda e{};
  Array<float, 4, Cuda> y(l.x.extents()), narrow({2, 2, 8, 12});
  using Output = SsdOutput<float, Cuda>;
  CHECK_THROWS_AS(apply(e, on.m, on.in, Output{y, narrow}), ShapeError);
  // The state one head on: heads would read what others have written.
  auto state = to_device(Array<float, 4>({2, 3, 8, 16}));
  const auto part = [&](index_t head) {
    return View<float, 4, Cuda>(state.data() + head * 128, {2, 2, 8, 16}, {384, 128, 16, 1});
  };
  on.in.initial_state = part(0);
  CHECK_THROWS_AS(apply(e, on.m, on.in, Output{y, part(1)}), DomainError);
  on.in.initial_state = {};
  CHECK_THROWS_AS(
      apply(e, on.m, on.in,
            Output{y, View<float, 4, Cuda>(state.data(), {2, 2, 8, 16}, {0, 128, 16, 1})}),
      Unsupported);
  CHECK(same_bits(to_host(y), Array<float, 4>(l.x.extents())));
}

TEMPLATE_TEST_CASE("a token of SSD is of fixed shape", "[nn_fixed_shape]", float, bf16) {
  using T = TestType;
  const Layer<T> l(2, 1, 4, 2, 16, 32);
  const OnDevice<T> on(l);
  Array<T, 4, Cuda> y(l.x.extents());
  Array<float, 4, Cuda> state(l.initial.extents());
  SsdInput<T, Cuda> in = on.in;
  in.initial_state = state;
  CHECK(apply_workspace_bytes(on.m, in) == 0);
  test::check_fixed_shape(
      "nn/ssd.hpp apply Ssd", 0,
      [&](const exec::cuda& e) {
        apply(e, on.m, in, SsdOutput<T, Cuda>{y, state});
      },
      y, state);
}
