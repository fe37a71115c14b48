// Selective scans on the device: against those of the CPU in double, and against themselves.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "structmat/core/error.hpp"
#include "structmat/nn/selective_scan.hpp"
#include "support/fixed_shape.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::quick;
using structmat::test::Random;

namespace {

using Cuda = space::cuda;

/// Storage and scalar of states.
template <class T_, class S_>
struct Kind {
  using T = T_;
  using S = S_;
};
using Real = Kind<float, float>;
using RealBf16 = Kind<bf16, float>;
using Paired = Kind<float, std::complex<float>>;
using PairedBf16 = Kind<bf16, std::complex<float>>;

template <class S>
using double_t = std::conditional_t<is_complex_v<S>, std::complex<double>, double>;

double_t<float> doubled(float v) {
  return v;
}
double_t<float> doubled(bf16 v) {
  return static_cast<float>(v);
}
std::complex<double> doubled(std::complex<float> v) {
  return v;
}
template <class T, class D>
T stored(D v) {
  if constexpr (is_complex_v<T>)
    return T(v);
  else
    return static_cast<T>(static_cast<float>(v));
}
template <class T, int Rank>
Array<T, Rank> stored_random(Random& random, const std::array<index_t, Rank>& extents) {
  const auto from = random.array<double_t<T>, Rank>(extents);
  Array<T, Rank> to(extents);
  std::transform(from.begin(), from.end(), to.begin(), [](auto v) { return stored<T>(v); });
  return to;
}
template <class T, int Rank>
auto doubles(const Array<T, Rank>& from) {
  Array<decltype(doubled(T{})), Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(), [](T v) { return doubled(v); });
  return to;
}
bool same(const auto& a, const auto& b) {
  if (a.extents() != b.extents()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(),
                                  sizeof(*a.data()) * static_cast<std::size_t>(a.size())) == 0;
}
/// |a - b| <= tolerance (1 + max |b|) in all places.
template <class A, class B>
void check_close(const char* name, const A& a, const B& b, double tolerance) {
  INFO(name);
  REQUIRE(a.extents() == b.extents());
  double worst = 0, largest = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(doubled(a.data()[i]) - b.data()[i]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    largest = std::max(largest, std::abs(b.data()[i]));
  }
  CHECK(worst <= tolerance * (1 + largest));
}
Array<std::byte, 1, Cuda> junk(index_t bytes) {
  Array<std::byte, 1> host({bytes});
  std::fill(host.begin(), host.end(), std::byte{0xff});
  return to_device(host);
}

/// Operands that T and S can hold.
template <class K>
struct Case {
  using T = typename K::T;
  using S = typename K::S;
  using Selected = selected_t<T, S>;

  Array<T, 3> u, z, delta, y_bar;
  Array<S, 2> a, b, c;
  Array<Selected, 4> b_varying, c_varying;
  Array<float, 1> d, bias;
  Array<S, 3> initial, final_bar;
  Hold hold = Hold::euler;
  bool b_of_data = true, c_of_data = true, extras = true, softplus = true;
  float delta_min = 0, delta_max = std::numeric_limits<float>::infinity();
  std::vector<index_t> starts{};

  Case(index_t batch, index_t length, index_t channels, index_t states, index_t groups,
       unsigned seed, index_t sequences = -1) {
    Random random(seed);
    const index_t count = sequences < 0 ? batch : sequences;
    u = stored_random<T, 3>(random, {batch, length, channels});
    z = stored_random<T, 3>(random, {batch, length, channels});
    delta = stored_random<T, 3>(random, {batch, length, channels});
    y_bar = stored_random<T, 3>(random, {batch, length, channels});
    a = stored_random<S, 2>(random, {channels, states});
    for (S& v : a) v -= 1.2f;
    b = stored_random<S, 2>(random, {channels, states});
    c = stored_random<S, 2>(random, {channels, states});
    b_varying = stored_random<Selected, 4>(random, {batch, length, groups, states});
    c_varying = stored_random<Selected, 4>(random, {batch, length, groups, states});
    d = stored_random<float, 1>(random, {channels});
    bias = stored_random<float, 1>(random, {channels});
    initial = stored_random<S, 3>(random, {count, channels, states});
    final_bar = stored_random<S, 3>(random, {count, channels, states});
  }
};

/// The operands of a case in a space, as arrays.
template <class T, class S, class Selected, class R, class Space>
struct Operands {
  Array<T, 3, Space> u, z, delta, y_bar;
  Array<S, 2, Space> a, b, c;
  Array<Selected, 4, Space> b_varying, c_varying;
  Array<R, 1, Space> d, bias;
  Array<S, 3, Space> initial, final_bar;
  Array<index_t, 1, Space> starts;

  template <class K>
  SelectiveScanView<T, S, Space> matrix(const Case<K>& k) const {
    SelectiveScanView<T, S, Space> m{};
    m.delta = delta, m.a = a;
    if (k.b_of_data)
      m.b.varying = b_varying;
    else
      m.b.constant = b;
    if (k.c_of_data)
      m.c.varying = c_varying;
    else
      m.c.constant = c;
    if (k.extras) m.d = d, m.delta_bias = bias;
    m.hold = k.hold, m.softplus = k.softplus;
    m.delta_min = k.delta_min, m.delta_max = k.delta_max;
    if (!k.starts.empty()) m.starts = starts;
    return m;
  }
  template <class K>
  SelectiveScanInput<T, S, Space> input(const Case<K>& k) const {
    SelectiveScanInput<T, S, Space> in{u};
    if (k.extras) in.z = z, in.initial_state = initial;
    return in;
  }
};
template <class K>
Array<index_t, 1> starts_of_case(const Case<K>& k) {
  Array<index_t, 1> starts({static_cast<index_t>(k.starts.size())});
  std::copy(k.starts.begin(), k.starts.end(), starts.begin());
  return starts;
}
template <class K>
auto on_device(const Case<K>& k) {
  return Operands<typename K::T, typename K::S, typename Case<K>::Selected, float, Cuda>{
      to_device(k.u),         to_device(k.z),
      to_device(k.delta),     to_device(k.y_bar),
      to_device(k.a),         to_device(k.b),
      to_device(k.c),         to_device(k.b_varying),
      to_device(k.c_varying), to_device(k.d),
      to_device(k.bias),      to_device(k.initial),
      to_device(k.final_bar), to_device(starts_of_case(k))};
}
template <class K>
auto in_double(const Case<K>& k) {
  using D = double_t<typename K::S>;
  return Operands<double, D, D, double, space::host>{
      doubles(k.u),    doubles(k.z),       doubles(k.delta),     doubles(k.y_bar),     doubles(k.a),
      doubles(k.b),    doubles(k.c),       doubles(k.b_varying), doubles(k.c_varying), doubles(k.d),
      doubles(k.bias), doubles(k.initial), doubles(k.final_bar), starts_of_case(k)};
}

template <class T, class S, class Selected, class R, class Space>
struct Results {
  Array<T, 3, Space> y, u_bar, z_bar, delta_bar;
  Array<S, 3, Space> final_state, initial_bar;
  Array<S, 2, Space> a_bar, b_bar, c_bar;
  Array<Selected, 4, Space> b_varying_bar, c_varying_bar;
  Array<R, 1, Space> d_bar, bias_bar;

  template <class K>
  SelectiveScanOutput<T, S, Space> output(const Case<K>&) {
    return {y, final_state};
  }
  template <class K>
  SelectiveScanCotangent<T, S, Space> cotangent(const Case<K>& k, bool accumulate) {
    SelectiveScanCotangent<T, S, Space> bar{};
    bar.u = u_bar, bar.delta = delta_bar, bar.a = a_bar;
    if (k.b_of_data)
      bar.b_varying = b_varying_bar;
    else
      bar.b = b_bar;
    if (k.c_of_data)
      bar.c_varying = c_varying_bar;
    else
      bar.c = c_bar;
    if (k.extras) {
      bar.z = z_bar, bar.d = d_bar, bar.delta_bias = bias_bar, bar.initial_state = initial_bar;
    }
    bar.accumulate = accumulate;
    return bar;
  }
};
/// All of them `value`.
template <class T, class S, class Selected, class R, class K>
Results<T, S, Selected, R, space::host> blank(const Case<K>& k, double value) {
  const auto full = [value](auto array) {
    using V = std::remove_reference_t<decltype(*array.data())>;
    std::fill(array.begin(), array.end(), stored<V>(value));
    return array;
  };
  const Array<T, 3> tokens = full(Array<T, 3>(k.u.extents()));
  const Array<S, 3> states = full(Array<S, 3>(k.initial.extents()));
  const Array<S, 2> own = full(Array<S, 2>(k.a.extents()));
  const Array<Selected, 4> selected = full(Array<Selected, 4>(k.b_varying.extents()));
  const Array<R, 1> channel = full(Array<R, 1>(k.d.extents()));
  return {tokens, tokens, tokens,   tokens,   states,  states, own,
          own,    own,    selected, selected, channel, channel};
}

template <class K>
auto run(const Case<K>& k, bool accumulate = false) {
  using T = typename K::T;
  using S = typename K::S;
  using Selected = typename Case<K>::Selected;
  const auto operands = on_device(k);
  const auto old = blank<T, S, Selected, float>(k, 0.25);
  Results<T, S, Selected, float, Cuda> r{to_device(old.y),
                                         to_device(old.u_bar),
                                         to_device(old.z_bar),
                                         to_device(old.delta_bar),
                                         to_device(old.final_state),
                                         to_device(old.initial_bar),
                                         to_device(old.a_bar),
                                         to_device(old.b_bar),
                                         to_device(old.c_bar),
                                         to_device(old.b_varying_bar),
                                         to_device(old.c_varying_bar),
                                         to_device(old.d_bar),
                                         to_device(old.bias_bar)};
  const auto m = operands.matrix(k);
  const auto in = operands.input(k);
  auto forward = junk(apply_workspace_bytes(m, in)),
       reverse = junk(apply_vjp_workspace_bytes(m, in));
  apply(exec::cuda{nullptr, forward}, m, in, r.output(k));
  apply_vjp(exec::cuda{nullptr, reverse}, m, in, View<const T, 3, Cuda>(operands.y_bar),
            View<const S, 3, Cuda>(operands.final_bar), r.cotangent(k, accumulate));
  device_synchronize();
  return Results<T, S, Selected, float, space::host>{to_host(r.y),
                                                     to_host(r.u_bar),
                                                     to_host(r.z_bar),
                                                     to_host(r.delta_bar),
                                                     to_host(r.final_state),
                                                     to_host(r.initial_bar),
                                                     to_host(r.a_bar),
                                                     to_host(r.b_bar),
                                                     to_host(r.c_bar),
                                                     to_host(r.b_varying_bar),
                                                     to_host(r.c_varying_bar),
                                                     to_host(r.d_bar),
                                                     to_host(r.bias_bar)};
}
template <class R>
bool all_same(const R& a, const R& b) {
  return same(a.y, b.y) && same(a.u_bar, b.u_bar) && same(a.z_bar, b.z_bar) &&
         same(a.delta_bar, b.delta_bar) && same(a.final_state, b.final_state) &&
         same(a.initial_bar, b.initial_bar) && same(a.a_bar, b.a_bar) && same(a.b_bar, b.b_bar) &&
         same(a.c_bar, b.c_bar) && same(a.b_varying_bar, b.b_varying_bar) &&
         same(a.c_varying_bar, b.c_varying_bar) && same(a.d_bar, b.d_bar) &&
         same(a.bias_bar, b.bias_bar);
}

/// Against the CPU in double, for operands that are the same numbers.
template <class K>
void check_against_host(const Case<K>& k, bool accumulate = false) {
  using D = double_t<typename K::S>;
  CAPTURE(k.u.extents(), k.a.extents(), k.b_varying.extents(), int(k.hold), k.b_of_data,
          k.c_of_data, k.extras, k.starts.size(), sizeof(typename K::T), accumulate);
  const auto operands = in_double(k);
  auto expected = blank<double, D, D, double>(k, accumulate ? 0.25 : 0);
  const auto m = operands.matrix(k);
  const auto in = operands.input(k);
  apply(exec::cpu{}, m, in, expected.output(k));
  apply_vjp(exec::cpu{}, m, in, View<const double, 3>(operands.y_bar),
            View<const D, 3>(operands.final_bar), expected.cotangent(k, true));
  const auto r = run(k, accumulate);
  constexpr double eps = 0x1p-23;
  // Decays make errors of one token fade: some tens of eps, besides the rounding of what is stored.
  const double own = 64 * eps, in_tokens = own + (sizeof(typename K::T) == 2 ? 0x1p-8 : 0),
               // Sums over tokens and channels.
      in_sums = own * (1 + std::sqrt(double(k.u.extent(0) * k.u.extent(1))) / 8);
  // Those that are not wanted are left alone.
  const auto check = [&](const char* name, bool wanted, const auto& got, const auto& right,
                         double tolerance) {
    auto all = right;
    if (!wanted) std::fill(all.begin(), all.end(), 0.25);
    check_close(name, got, all, tolerance);
  };
  check("y", true, r.y, expected.y, in_tokens);
  check("final_state", true, r.final_state, expected.final_state, own);
  check("u_bar", true, r.u_bar, expected.u_bar, in_tokens);
  check("z_bar", k.extras, r.z_bar, expected.z_bar, in_tokens);
  check("delta_bar", true, r.delta_bar, expected.delta_bar, in_tokens);
  check("initial_bar", k.extras, r.initial_bar, expected.initial_bar, own);
  check("a_bar", true, r.a_bar, expected.a_bar, in_sums);
  check("b_bar", !k.b_of_data, r.b_bar, expected.b_bar, in_sums);
  check("c_bar", !k.c_of_data, r.c_bar, expected.c_bar, in_sums);
  check("b_varying_bar", k.b_of_data, r.b_varying_bar, expected.b_varying_bar, in_tokens);
  check("c_varying_bar", k.c_of_data, r.c_varying_bar, expected.c_varying_bar, in_tokens);
  check("d_bar", k.extras, r.d_bar, expected.d_bar, in_sums);
  check("bias_bar", k.extras, r.bias_bar, expected.bias_bar, in_sums);
}

/// The tokens of one sequence of a packed case, on its own.
template <class K>
Case<K> sequence_of(const Case<K>& k, index_t s) {
  Case<K> one = k;
  const index_t begin = k.starts[s], end = k.starts[s + 1];
  const auto tokens = [&](const auto& from) { return to_array(from.view().slice(1, begin, end)); };
  const auto own = [&](const auto& from) { return to_array(from.view().slice(0, s, s + 1)); };
  one.u = tokens(k.u), one.z = tokens(k.z), one.delta = tokens(k.delta);
  one.y_bar = tokens(k.y_bar), one.b_varying = tokens(k.b_varying);
  one.c_varying = tokens(k.c_varying);
  one.initial = own(k.initial), one.final_bar = own(k.final_bar);
  one.starts = {};
  return one;
}

}  // namespace

TEMPLATE_TEST_CASE("selective scans as on the CPU", "[nn_selective_scan]", Real, RealBf16, Paired,
                   PairedBf16) {
  for (const index_t length : {1, 2, 7, 8, 16, 33, 63, 130}) {
    Case<TestType> k(2, length, 8, 16, 2, 1);
    check_against_host(k, length % 2 == 0);
  }
  check_against_host(Case<TestType>(1, 300, 4, 5, 1, 2));
  for (const Hold hold : {Hold::euler, Hold::zero, Hold::first}) {
    for (const int selected : {0, 1, 2, 3}) {
      Case<TestType> k(2, 21, 6, 4, 1, 3);
      k.hold = hold, k.b_of_data = selected & 1, k.c_of_data = selected & 2;
      k.extras = selected != 1;
      if (hold == Hold::zero) k.a(1, 0) = 0, k.a(1, 1) = -0.01f;  // where the quotient cancels
      check_against_host(k, selected == 3);
    }
  }
}

TEMPLATE_TEST_CASE("states, channels and groups of any number", "[nn_selective_scan]", Real,
                   RealBf16, Paired) {
  for (const index_t states : {1, 3, 16, 17, 64, 65, 100, 256}) {
    check_against_host(Case<TestType>(1, 13, 3, states, 1, 4));
  }
  for (const index_t channels : {1, 24, 33, 70}) {
    check_against_host(Case<TestType>(2, 19, channels, 16, 1, 5));
  }
  check_against_host(Case<TestType>(1, 9, 12, 8, 4, 6));
  check_against_host(Case<TestType>(0, 9, 12, 8, 4, 6));
  check_against_host(Case<TestType>(2, 0, 12, 8, 4, 6));
}

TEST_CASE("more channels of a group than blocks share at a time", "[nn_selective_scan]") {
  check_against_host(Case<Real>(1, 5, 70 * 8, 17, 1, 7));
}

TEST_CASE("groups of b and c apart", "[nn_selective_scan]") {
  Case<Real> k(2, 20, 12, 4, 2, 8);
  Random random(9);
  k.c_varying = stored_random<float, 4>(random, {2, 20, 3, 4});
  // The results of b and c have the shapes of the case: those of c by themselves.
  const auto operands = on_device(k);
  const auto m = operands.matrix(k);
  const auto in = operands.input(k);
  const auto twin = in_double(k);
  Array<float, 4, Cuda> b_bar({2, 20, 2, 4}), c_bar({2, 20, 3, 4});
  Array<double, 4> b_expected({2, 20, 2, 4}), c_expected({2, 20, 3, 4});
  SelectiveScanCotangent<float, float, Cuda> bar{};
  bar.b_varying = b_bar, bar.c_varying = c_bar;
  auto workspace = junk(apply_vjp_workspace_bytes(m, in));
  apply_vjp(exec::cuda{nullptr, workspace}, m, in, View<const float, 3, Cuda>(operands.y_bar), {},
            bar);
  SelectiveScanCotangent<double> expected{};
  expected.b_varying = b_expected, expected.c_varying = c_expected;
  apply_vjp(exec::cpu{}, twin.matrix(k), twin.input(k), View<const double, 3>(twin.y_bar), {},
            expected);
  device_synchronize();
  check_close("b", to_host(b_bar), b_expected, 1e-5);
  check_close("c", to_host(c_bar), c_expected, 1e-5);
}

TEST_CASE("known results of selective scans on the device", "[nn_selective_scan]") {
  const index_t length = 130;
  Case<Real> k(1, length, 1, 1, 1, 10);
  const auto fill = [](auto& array, float v) { std::fill(array.begin(), array.end(), v); };
  fill(k.u, 1), fill(k.delta, 0), fill(k.y_bar, 1), fill(k.final_bar, 0), fill(k.initial, 0);
  fill(k.a, -1), fill(k.b_varying, 1), fill(k.c_varying, 1), fill(k.d, 0), fill(k.bias, 1);
  fill(k.z, 100);  // silu(z) = z
  auto r = run(k);
  CHECK(r.y(0, 0, 0) / 100 == Approx(1.3132616875).epsilon(1e-6));
  CHECK(r.y(0, 1, 0) / 100 == Approx(1.6664521524).epsilon(1e-6));
  CHECK(r.y(0, 129, 0) / 100 == Approx(1.7963836633).epsilon(1e-6));
  CHECK(r.a_bar(0, 0) / 100 == Approx(111.3169979).epsilon(1e-5));
  CHECK(r.bias_bar(0) / 100 == Approx(67.664846976).epsilon(1e-5));

  SECTION("decays that leave nothing") {
    fill(k.a, -1e6f), fill(k.bias, 30);
    r = run(k);
    CHECK(r.y(0, 129, 0) == 3000);
    CHECK(r.a_bar(0, 0) == 0);
    CHECK(std::isfinite(r.bias_bar(0)));
    fill(k.a, -INFINITY);
    CHECK(run(k).y(0, 129, 0) == 3000);
  }
  SECTION("no decay") {
    fill(k.a, 0), fill(k.delta, 0x1p-8f), fill(k.bias, 0), fill(k.z, 100);
    k.softplus = false;
    CHECK(run(k).y(0, 127, 0) == 50);
  }
  SECTION("a first-order step that forgets all") {
    fill(k.delta, 1), fill(k.bias, 0), k.softplus = false, k.hold = Hold::first;
    for (index_t t = 0; t < length; ++t) k.u(0, t, 0) = float(t);
    CHECK(run(k).y(0, 57, 0) == 5700);
    check_against_host(k);
  }
  SECTION("clamped steps") {
    k.delta_min = 0.5f, k.delta_max = 1;
    for (index_t t = 0; t < length; ++t) k.delta(0, t, 0) = float(t % 7) - 3;
    check_against_host(k);
  }
  SECTION("ends of softplus") {
    fill(k.bias, 0), fill(k.delta, 100);
    CHECK(run(k).y(0, 0, 0) == 10000);
    fill(k.delta, -100);
    r = run(k);
    CHECK(std::abs(r.y(0, 129, 0)) <= 1e-35f);
    CHECK(std::isfinite(r.delta_bar(0, 5, 0)));
  }
}

TEMPLATE_TEST_CASE("packed sequences are what separate ones are", "[nn_selective_scan]", Real,
                   RealBf16, Paired) {
  Case<TestType> k(1, 90, 8, 16, 2, 11, 5);
  k.starts = {0, 17, 17, 57, 58, 90};
  check_against_host(k);
  const auto together = run(k);
  for (index_t s = 0; s < 5; ++s) {
    const auto r = run(sequence_of(k, s));
    const auto tokens = [&](const auto& from) {
      return to_array(from.view().slice(1, k.starts[s], k.starts[s + 1]));
    };
    const auto own = [&](const auto& from) { return to_array(from.view().slice(0, s, s + 1)); };
    CHECK(same(r.y, tokens(together.y)));
    CHECK(same(r.u_bar, tokens(together.u_bar)));
    CHECK(same(r.z_bar, tokens(together.z_bar)));
    CHECK(same(r.delta_bar, tokens(together.delta_bar)));
    CHECK(same(r.b_varying_bar, tokens(together.b_varying_bar)));
    CHECK(same(r.c_varying_bar, tokens(together.c_varying_bar)));
    CHECK(same(r.final_state, own(together.final_state)));
    CHECK(same(r.initial_bar, own(together.initial_bar)));
  }
  // What is out of order or out of range stays within memory.
  k.starts = {5, 60, 20, -7, 1000, 40};
  CHECK_NOTHROW(run(k));
}

TEMPLATE_TEST_CASE("selective scans in pieces, the state in place", "[nn_selective_scan]", Real,
                   RealBf16) {
  using T = typename TestType::T;
  const Case<TestType> k(2, 20, 8, 16, 1, 12);
  const auto whole = run(k);
  const auto operands = on_device(k);
  Array<T, 3, Cuda> y(k.u.extents());
  auto state = to_device(k.initial);
  for (index_t t = 0; t < 20; t += t < 16 ? 8 : 1) {
    const index_t end = t < 16 ? t + 8 : t + 1;
    auto m = operands.matrix(k);
    m.delta = m.delta.slice(1, t, end);
    m.b.varying = m.b.varying.slice(1, t, end), m.c.varying = m.c.varying.slice(1, t, end);
    apply(exec::cuda{}, m,
          SelectiveScanInput<T, float, Cuda>{operands.u.view().slice(1, t, end),
                                             operands.z.view().slice(1, t, end), state},
          SelectiveScanOutput<T, float, Cuda>{y.view().slice(1, t, end), state});
  }
  device_synchronize();
  CHECK(same(to_host(y), whole.y));
  CHECK(same(to_host(state), whole.final_state));
}

TEMPLATE_TEST_CASE("slices of one projection, and any strides", "[nn_selective_scan]", Real,
                   RealBf16) {
  using T = typename TestType::T;
  const index_t batch = 2, length = 21, channels = 8, states = 16;
  const Case<TestType> k(batch, length, channels, states, 1, 13);
  const auto plain = run(k);
  const auto operands = on_device(k);
  // step: between neighbours; u, z, delta, b and c lie one after the other in a token.
  for (const index_t step : {1, 2, -1}) {
    const index_t row = 3 * channels + 2 * states, size = batch * length * row;
    Array<T, 1> host({2 * size});
    const auto place = [&](index_t b, index_t t, index_t i) {
      const index_t at = (b * length + t) * row + i;
      return step > 0 ? at * step : size - 1 - at;
    };
    for (index_t b = 0; b < batch; ++b) {
      for (index_t t = 0; t < length; ++t) {
        for (index_t i = 0; i < channels; ++i) {
          host(place(b, t, i)) = k.u(b, t, i);
          host(place(b, t, channels + i)) = k.z(b, t, i);
          host(place(b, t, 2 * channels + i)) = k.delta(b, t, i);
        }
        for (index_t n = 0; n < states; ++n) {
          host(place(b, t, 3 * channels + n)) = k.b_varying(b, t, 0, n);
          host(place(b, t, 3 * channels + states + n)) = k.c_varying(b, t, 0, n);
        }
      }
    }
    auto memory = to_device(host);
    auto results = to_device(host);
    const auto tokens = [&](Array<T, 1, Cuda>& in, index_t first) {
      return View<T, 3, Cuda>(in.data() + place(0, 0, first), {batch, length, channels},
                              {length * row * step, row * step, step});
    };
    const auto selected = [&](Array<T, 1, Cuda>& in, index_t first) {
      return View<T, 4, Cuda>(in.data() + place(0, 0, first), {batch, length, 1, states},
                              {length * row * step, row * step, states * step, step});
    };
    auto m = operands.matrix(k);
    auto in = operands.input(k);
    in.u = tokens(memory, 0), in.z = tokens(memory, channels),
    m.delta = tokens(memory, 2 * channels);
    m.b.varying = selected(memory, 3 * channels);
    m.c.varying = selected(memory, 3 * channels + states);
    Array<T, 3, Cuda> y(k.u.extents());
    apply(exec::cuda{}, m, in, SelectiveScanOutput<T, float, Cuda>{y});
    SelectiveScanCotangent<T, float, Cuda> bar{};
    bar.u = tokens(results, 0), bar.z = tokens(results, channels);
    bar.delta = tokens(results, 2 * channels);
    bar.b_varying = selected(results, 3 * channels);
    bar.c_varying = selected(results, 3 * channels + states);
    bar.accumulate = false;
    auto workspace = junk(apply_vjp_workspace_bytes(m, in));
    // Interleaved, they overlap as far as intervals of memory can tell, yet share no element.
    apply_vjp(exec::cuda{nullptr, workspace}, m, in, View<const T, 3, Cuda>(operands.y_bar),
              View<const float, 3, Cuda>(operands.final_bar), bar);
    device_synchronize();
    CHECK(same(to_host(y), plain.y));
    const auto got = to_host(results);
    bool equal = true;
    for (index_t b = 0; b < batch; ++b) {
      for (index_t t = 0; t < length; ++t) {
        for (index_t i = 0; i < channels; ++i) {
          equal = equal && float(got(place(b, t, i))) == float(plain.u_bar(b, t, i));
        }
      }
    }
    CHECK(equal);
  }
}

TEMPLATE_TEST_CASE("selective scans repeat, and a sample does not depend on its batch",
                   "[nn_selective_scan]", Real, RealBf16, PairedBf16) {
  const Case<TestType> k(3, quick() ? 60 : 600, 40, 16, 1, 14);
  const auto first = run(k);
  for (int i = 0; i < (quick() ? 1 : 30); ++i) REQUIRE(all_same(run(k), first));
  Case<TestType> alone = k;
  const auto one = [](const auto& from) { return to_array(from.view().slice(0, 2, 3)); };
  alone.u = one(k.u), alone.z = one(k.z), alone.delta = one(k.delta), alone.y_bar = one(k.y_bar);
  alone.b_varying = one(k.b_varying), alone.c_varying = one(k.c_varying);
  alone.initial = one(k.initial), alone.final_bar = one(k.final_bar);
  const auto r = run(alone);
  CHECK(same(r.y, one(first.y)));
  CHECK(same(r.u_bar, one(first.u_bar)));
  CHECK(same(r.z_bar, one(first.z_bar)));
  CHECK(same(r.delta_bar, one(first.delta_bar)));
  CHECK(same(r.final_state, one(first.final_state)));
  CHECK(same(r.initial_bar, one(first.initial_bar)));
  CHECK(same(r.b_varying_bar, one(first.b_varying_bar)));
  CHECK(same(r.c_varying_bar, one(first.c_varying_bar)));
}

TEST_CASE("many sequences, and long ones, of selective scans", "[nn_selective_scan]") {
  check_against_host(Case<RealBf16>(quick() ? 300 : 70000, 2, 4, 3, 1, 15));
  check_against_host(Case<Real>(1, quick() ? 1500 : 300001, 4, 16, 1, 16));
}

TEST_CASE("offsets beyond 32 bits in selective scans", "[nn_selective_scan]") {
  if (quick()) return;
  // Two samples 2^32 + 8 numbers apart, and tokens 2^25 apart: 2^25 70 > 2^31.
  const index_t length = 70, channels = 8, token = index_t(1) << 25, sample = length * token + 8;
  const Case<RealBf16> k(2, length, channels, 16, 1, 17);
  const auto plain = run(k);
  const auto operands = on_device(k);
  Array<bf16, 1, Cuda> u({2 * sample}, uninitialized), y({2 * sample}, uninitialized);
  const auto at = [&](Array<bf16, 1, Cuda>& in) {
    return View<bf16, 3, Cuda>(in.data(), {2, length, channels}, {sample, token, 1});
  };
  for (index_t b = 0; b < 2; ++b) {
    for (index_t t = 0; t < length; ++t) {
      structmat::detail::copy_host_to_device(u.data() + b * sample + t * token, &k.u(b, t, 0),
                                             channels * sizeof(bf16));
    }
  }
  auto in = operands.input(k);
  in.u = at(u);
  apply(exec::cuda{}, operands.matrix(k), in, SelectiveScanOutput<bf16, float, Cuda>{at(y)});
  device_synchronize();
  Array<bf16, 3> got(k.u.extents());
  for (index_t b = 0; b < 2; ++b) {
    for (index_t t = 0; t < length; ++t) {
      structmat::detail::copy_device_to_host(&got(b, t, 0), y.data() + b * sample + t * token,
                                             channels * sizeof(bf16));
    }
  }
  CHECK(same(got, plain.y));
}

TEST_CASE("NaN stays in its channel until channels are summed", "[nn_selective_scan]") {
  Case<Real> k(1, 40, 8, 16, 1, 18);
  const auto clean = run(k);
  k.u(0, 20, 3) = NAN;
  const auto r = run(k);
  for (index_t t = 0; t < 40; ++t) {
    for (index_t i = 0; i < 8; ++i) {
      const bool reached = i == 3 && t >= 20;
      REQUIRE(std::isnan(r.y(0, t, i)) == reached);
      if (!reached) REQUIRE(r.y(0, t, i) == clean.y(0, t, i));
    }
  }
  CHECK(std::isnan(r.a_bar(3, 0)));
  CHECK_FALSE(std::isnan(r.a_bar(2, 0)));
  CHECK(std::isnan(r.c_varying_bar(0, 20, 0, 0)));
  CHECK_FALSE(std::isnan(r.c_varying_bar(0, 19, 0, 0)));
}

TEST_CASE("selective scans on the device refuse what does not fit", "[nn_selective_scan]") {
  const Case<Real> k(2, 10, 8, 4, 2, 19);
  const auto operands = on_device(k);
  auto m = operands.matrix(k);
  const auto in = operands.input(k);
  Array<float, 3, Cuda> y(k.u.extents());
  const auto call = [&](const View<float, 3, Cuda>& to) {
    apply(exec::cuda{}, m, in, SelectiveScanOutput<float, float, Cuda>{to});
  };
  CHECK_THROWS_AS(call(View<float, 3, Cuda>(y.data(), {2, 10, 8}, {0, 8, 1})), Unsupported);
  CHECK_THROWS_AS(call(View<float, 3, Cuda>(const_cast<float*>(operands.u.data()), {2, 10, 8})),
                  DomainError);
  m.b.constant = operands.b;
  CHECK_THROWS_WITH(call(y), "nn::selective_scan::apply: b is both constant and of the data");
  m = operands.matrix(k);
  const auto reverse = [&](const SelectiveScanCotangent<float, float, Cuda>& bar) {
    auto workspace = junk(apply_vjp_workspace_bytes(m, in));
    apply_vjp(exec::cuda{nullptr, workspace}, m, in, View<const float, 3, Cuda>(operands.y_bar), {},
              bar);
  };
  SelectiveScanCotangent<float, float, Cuda> bar{};
  bar.u = View<float, 3, Cuda>(const_cast<float*>(operands.y_bar.data()), {2, 10, 8});
  CHECK_THROWS_WITH(reverse(bar),
                    "nn::selective_scan::apply_vjp: the cotangent of u overlaps y_bar in memory");
  bar.u = View<float, 3, Cuda>(y.data(), {2, 10, 8}, {0, 8, 1});
  CHECK_THROWS_AS(reverse(bar), Unsupported);
  const Case<Real> wide(1, 2, 1, 257, 1, 20);
  const auto many = on_device(wide);
  CHECK_THROWS_WITH(
      apply_workspace_bytes(many.matrix(wide), many.input(wide)),
      "nn::selective_scan::apply_workspace_bytes: 257 states, at most 256 on a device");
}

TEST_CASE("selective scans have a fixed shape", "[nn_fixed_shape]") {
  Case<RealBf16> k(1, 40, 8, 16, 1, 21, 3);
  k.starts = {0, 3, 17, 40};
  const auto operands = on_device(k);
  const auto m = operands.matrix(k);
  const auto in = operands.input(k);
  Array<bf16, 3, Cuda> y(k.u.extents()), u_bar(k.u.extents()), z_bar(k.u.extents());
  Array<bf16, 4, Cuda> b_bar(k.b_varying.extents()), c_bar(k.c_varying.extents());
  Array<float, 3, Cuda> final_state(k.initial.extents()), initial_bar(k.initial.extents());
  Array<float, 2, Cuda> a_bar(k.a.extents());
  Array<float, 1, Cuda> d_bar(k.d.extents());
  test::check_fixed_shape(
      "nn/selective_scan.hpp apply SelectiveScan", apply_workspace_bytes(m, in),
      [&](const exec::cuda& e) {
        apply(e, m, in, SelectiveScanOutput<bf16, float, Cuda>{y, final_state});
      },
      y, final_state);
  SelectiveScanCotangent<bf16, float, Cuda> bar{};
  bar.u = u_bar, bar.z = z_bar;
  bar.a = a_bar, bar.b_varying = b_bar, bar.c_varying = c_bar, bar.d = d_bar;
  bar.initial_state = initial_bar;
  test::check_fixed_shape(
      "nn/selective_scan.hpp apply_vjp SelectiveScan", apply_vjp_workspace_bytes(m, in),
      [&](const exec::cuda& e) {
        apply_vjp(e, m, in, View<const bf16, 3, Cuda>(operands.y_bar),
                  View<const float, 3, Cuda>(operands.final_bar), bar);
      },
      u_bar, z_bar, a_bar, b_bar, c_bar, d_bar, initial_bar);
}
