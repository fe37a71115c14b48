// Reverse mode of the quasiseparable mixer on a device against the CPU in double, on the same numbers.
#include "mixer_case.hpp"
#include "structmat/core/error.hpp"
#include "support/fixed_shape.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using structmat::test::MixerCase;
using structmat::test::MixerShape;

namespace {

using Cuda = space::cuda;

/// Errors are over the largest number of an array. bf16: states, entries of a chunk's matrix and its cotangent are
/// rounded, some 2^-9 each, and the cotangent of x three times. float: sums over a chunk in parts of tf32.
template <class T>
constexpr double limit = sizeof(T) == 2 ? 0.025 : 2e-5;

/// All cotangents, set and added to.
template <class T>
void check_bars(const MixerShape& s) {
  const MixerCase<T> k(s);
  const auto expected = test::all_numbers(k.expected_bars());
  for (const bool accumulate : {false, true}) {
    if (test::quick() && accumulate && !s.shift) continue;
    const auto got = test::all_numbers(k.bars(accumulate ? 0.5f : NAN, accumulate));
    for (std::size_t i = 0; i < got.size(); ++i) {
      // One for all channels of a head: the others are not there.
      if (s.d_by_head && got[i].name == "D") continue;
      std::vector<double> want = expected[i].numbers;
      if (accumulate) {
        for (double& v : want) v += 0.5;
      }
      INFO(test::text(s) << ": " << got[i].name << (accumulate ? ", added to" : ", set"));
      CHECK(test::worst_error(got[i].numbers, want) < limit<T>);
    }
  }
}

/// The cotangents of a part are those of the whole, bit for bit; those of parameters are sums over all.
template <class T>
void check_part(const MixerCase<T>& k, index_t first, index_t last, index_t begin, index_t end) {
  const bool packed = !k.shape.starts.empty();
  auto whole = k.bars(NAN, false), alone = k.filled(NAN);
  const auto m = test::part_of(k.device.matrix(k.shape), packed, first, last, begin, end);
  const auto cut = [&](const auto& v) {
    return (packed ? v : v.slice(0, first, last)).slice(1, begin, end);
  };
  const View<const T, 4, Cuda> x = cut(k.device.x.view()), y_bar = cut(k.device.y_bar.view());
  auto bar = alone.view(k.shape, false);
  bar.x = cut(bar.x), bar.delta = cut(bar.delta);
  for (auto* way : {&bar.forward, &bar.backward}) {
    way->dt = cut(way->dt), way->b = cut(way->b), way->c = cut(way->c);
    way->initial_state = way->initial_state.slice(0, first, last);
  }
  auto workspace = MixerCase<T>::memory(apply_vjp_workspace_bytes(m, x));
  apply_vjp(exec::cuda{nullptr, workspace}, m, x, y_bar, bar);
  const auto a = test::all_numbers(whole), b = test::all_numbers(alone);
  index_t compared = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name == "a" || a[i].name == "dt_bias" || a[i].name == "D") continue;
    INFO(a[i].name);
    bool same = true;
    for (std::size_t j = 0; j < a[i].numbers.size(); ++j) {
      if (std::isnan(b[i].numbers[j])) continue;  // not of this part
      same = same && a[i].numbers[j] == b[i].numbers[j], ++compared;
    }
    CHECK(same);
  }
  CHECK(compared >= 3 * x.size());
}

}  // namespace

TEMPLATE_TEST_CASE("cotangents of the mixer on a device", "[nn_quasiseparable_mixer_vjp]", float,
                   bf16) {
  std::vector<MixerShape> shapes{
      {1, 1, 1, 1, 1, 1}, {2, 65, 2, 2, 3, 5}, {1, 80, 2, 1, 4, 8, {0, 0, 3, 70, 70, 80}}};
  if (!test::quick()) {
    shapes.insert(shapes.end(), {{1, 130, 2, 1, 64, 16},
                                 {1, 70, 2, 1, 80, 130},
                                 {2, 300, 6, 2, 64, 128},
                                 {1, 200, 4, 2, 16, 20, {0, 0, 3, 70, 70, 200}},
                                 {1, 9000, 2, 1, 24, 64}});
  }
  for (const MixerShape& shape : shapes) {
    for (const bool shift : {true, false}) {
      for (const bool diagonal : {true, false}) {
        // Emulated, chunks take long.
        if (test::quick() && shape.length > 1 && shift != diagonal) continue;
        MixerShape s = shape;
        s.shift = shift, s.diagonal = diagonal, s.state = shift;
        check_bars<TestType>(s);
        if (test::once()) return;
      }
    }
  }
  // More channels than a tile and more states than a piece.
  if (sizeof(TestType) == 2 && !test::once()) check_bars<TestType>({1, 17, 1, 1, 80, 130});
}

TEMPLATE_TEST_CASE("cotangents of the mixer with one D a head", "[nn_quasiseparable_mixer_vjp]",
                   float, bf16) {
  MixerShape s{2, 70, 2, 1, 24, 8};
  s.d_by_head = true;
  check_bars<TestType>(s);
  const MixerCase<TestType> k(s);
  const auto expected = k.expected_bars();
  const auto got = to_host(k.bars(0.25f, true).d);
  for (index_t h = 0; h < s.heads; ++h) {
    CHECK(got(h, 0) == Approx(expected.d(h, 0) + 0.25).epsilon(1e-4));
    CHECK(got(h, 1) == 0.25f);
  }
}

TEMPLATE_TEST_CASE("cotangents of samples and packed sequences are those of each alone",
                   "[nn_quasiseparable_mixer_vjp]", float, bf16) {
  const MixerCase<TestType> batch({3, 70, 1, 1, 8, 16});
  check_part(batch, 1, 2, 0, 70);
  const MixerCase<TestType> packed({1, 140, 1, 1, 8, 16, {0, 68, 68, 69, 140}});
  for (index_t s : {0, 2, 3}) {
    check_part(packed, s, s + 1, packed.shape.starts[s], packed.shape.starts[s + 1]);
  }
}

TEMPLATE_TEST_CASE("cotangents of the mixer repeat, and those that are not wanted are not needed",
                   "[nn_quasiseparable_mixer_vjp]", float, bf16) {
  const MixerCase<TestType> k({1, 70, 2, 1, 24, 8});
  const auto first = test::all_numbers(k.bars(NAN, false));
  for (int i = 0; i < (test::quick() ? 1 : 30); ++i) {
    const auto again = test::all_numbers(k.bars(NAN, false));
    for (std::size_t j = 0; j < first.size(); ++j) {
      CHECK(again[j].numbers == first[j].numbers);
    }
  }
  // One after the other.
  const auto m = k.device.matrix(k.shape);
  const View<const TestType, 4, Cuda> x = k.device.x;
  auto workspace = MixerCase<TestType>::memory(apply_vjp_workspace_bytes(m, x));
  for (int i = 0; i < 5; ++i) {
    auto bars = k.filled(NAN);
    const auto all = bars.view(k.shape, false);
    nn::QuasiseparableMixerCotangent<TestType, Cuda> one;
    one.accumulate = false;
    if (i == 0) one.x = all.x;
    if (i == 1) one.forward.c = all.forward.c;
    if (i == 2) one.backward.dt = all.backward.dt;
    if (i == 3) one.d = all.d;
    if (i == 4) one.a = all.a;
    apply_vjp(exec::cuda{nullptr, workspace}, m, x, k.device.y_bar.view(), one);
    const auto got = test::all_numbers(bars);
    index_t wanted = 0;
    for (std::size_t j = 0; j < got.size(); ++j) {
      if (!got[j].numbers.empty() && std::isnan(got[j].numbers[0])) continue;
      CHECK(got[j].numbers == first[j].numbers);
      ++wanted;
    }
    CHECK(wanted == 1);
  }
}

TEMPLATE_TEST_CASE("cotangents of what shares a tensor are those of copies",
                   "[nn_quasiseparable_mixer_vjp]", float, bf16) {
  using T = TestType;
  const MixerShape s{1, 90, 2, 1, 16, 16};
  const MixerCase<T> k(s);
  const auto contiguous = test::all_numbers(k.bars(NAN, false));
  const test::Projection<T> rows(k);
  const auto m = rows.matrix(k);
  const auto x = rows.x(s);
  auto bars = k.filled(NAN);
  auto workspace = MixerCase<T>::memory(apply_vjp_workspace_bytes(m, x));
  apply_vjp(exec::cuda{nullptr, workspace}, m, x, k.device.y_bar.view(), bars.view(s, false));
  const auto got = test::all_numbers(bars);
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO(got[i].name);
    CHECK(got[i].numbers == contiguous[i].numbers);
  }
}

TEST_CASE("reverse mode of the mixer refuses", "[nn_quasiseparable_mixer_vjp]") {
  const MixerCase<float> k({2, 20, 2, 1, 4, 8});
  const auto m = k.device.matrix(k.shape);
  const View<const float, 4, Cuda> x = k.device.x, y_bar = k.device.y_bar;
  auto workspace = MixerCase<float>::memory(apply_vjp_workspace_bytes(m, x));
  auto bars = k.filled(1);
  const auto refused = [&](const nn::QuasiseparableMixerCotangent<float, Cuda>& bar) {
    apply_vjp(exec::cuda{nullptr, workspace}, m, x, y_bar, bar);
  };
  auto bar = bars.view(k.shape, true);
  bar.forward.b = bar.forward.b.slice(0, 0, 1);
  CHECK_THROWS_WITH(
      refused(bar),
      "nn::quasiseparable_mixer::apply_vjp: the cotangent of B has stride 0 in dimension 0 "
      "of extent 2; an output cannot be broadcast");
  bar = bars.view(k.shape, true);
  bar.delta = bar.delta.slice(2, 0, 1);
  CHECK_THROWS_AS(refused(bar), ShapeError);
  bar = bars.view(k.shape, true);
  bar.x = View<float, 4, Cuda>(const_cast<float*>(y_bar.data()), y_bar.extents());
  CHECK_THROWS_AS(refused(bar), Unsupported);
  bar.x = View<float, 4, Cuda>(const_cast<float*>(x.data()), x.extents());
  CHECK_THROWS_AS(refused(bar), DomainError);
  CHECK_THROWS_AS(apply_vjp(exec::cuda{}, m, x, y_bar, bars.view(k.shape, true)), DomainError);
  for (const auto& n : test::all_numbers(bars)) {
    CHECK(std::count(n.numbers.begin(), n.numbers.end(), 1.0) ==
          static_cast<std::ptrdiff_t>(n.numbers.size()));
  }
}

TEMPLATE_TEST_CASE("reverse mode of the mixer has a fixed shape", "[nn_fixed_shape]", float, bf16) {
  const MixerCase<TestType> k({1, 70, 2, 1, 8, 8});
  const auto m = k.device.matrix(k.shape);
  const View<const TestType, 4, Cuda> x = k.device.x, y_bar = k.device.y_bar;
  auto bars = k.filled(0);
  test::check_fixed_shape(
      "nn/quasiseparable_mixer.hpp apply_vjp QuasiseparableMixer", apply_vjp_workspace_bytes(m, x),
      [&](const exec::cuda& e) { apply_vjp(e, m, x, y_bar, bars.view(k.shape, true)); }, bars.x,
      bars.b[0], bars.c[1], bars.dt[0], bars.initial[1], bars.delta, bars.a, bars.bias, bars.d);
}
