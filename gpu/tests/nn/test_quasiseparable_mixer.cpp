// The quasiseparable mixer on a device against the CPU in double, on the same numbers.
#include "structmat/nn/quasiseparable_mixer.hpp"

#include "mixer_case.hpp"
#include "structmat/core/error.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using structmat::test::MixerCase;
using structmat::test::MixerShape;

namespace {

using Cuda = space::cuda;

/// Of the largest number. bf16: entries of a chunk's matrix and states are rounded. float: three parts of tf32.
template <class T>
constexpr double limit = sizeof(T) == 2 ? 0.015 : 4e-6;

template <class T>
void check_case(const MixerShape& s, double step = 0.5) {
  if (s.length == 1 && s.shift && !s.diagonal) return;  // nothing but zero
  INFO(test::text(s));
  const MixerCase<T> k(s, step);
  CHECK(test::worst_error(test::numbers(k.forward()), test::numbers(k.expected())) < limit<T>);
}

}  // namespace

TEMPLATE_TEST_CASE("the quasiseparable mixer on a device", "[nn_quasiseparable_mixer]", float,
                   bf16) {
  for (const MixerShape& shape :
       {MixerShape{1, 1, 1, 1, 1, 1}, MixerShape{2, 65, 4, 2, 3, 5},
        MixerShape{1, 130, 2, 1, 64, 16}, MixerShape{1, 127, 2, 1, 80, 130},
        MixerShape{1, 200, 4, 2, 16, 20, {0, 0, 3, 70, 70, 200}}}) {
    for (int flags = 0; flags < 8; ++flags) {
      MixerShape s = shape;
      s.shift = flags & 1, s.diagonal = flags & 2, s.state = flags & 4;
      // Wide ones take long on the emulation.
      if (test::quick() && s.channels >= 64 && flags % 4 != 3) continue;
      check_case<TestType>(s);
      if (test::once()) return;
    }
  }
  MixerShape s{2, 100, 2, 1, 24, 16};
  s.d_by_head = true;
  check_case<TestType>(s);
}

TEMPLATE_TEST_CASE("the mixer of all extents on a device", "[nn_quasiseparable_mixer]", float,
                   bf16) {
  // Lengths around chunks, with one other extent off its usual value each time.
  for (const index_t length : {2, 63, 64, 197}) {
    check_case<TestType>({1, length, 3, 1, 8, 16});
    check_case<TestType>({1, length, 1, 1, 24, 1});
  }
  if (test::once()) return;
  check_case<TestType>({1, 70, 1, 1, 128, 8});
  check_case<TestType>({1, 70, 1, 1, 4, 100});
  check_case<TestType>({1, 70, 1, 1, 4, 128});
  if constexpr (sizeof(TestType) == 2) check_case<TestType>({1, 70, 1, 1, 4, 256});
  // Huge steps: nothing is left of what was before.
  check_case<TestType>({1, 150, 2, 1, 8, 16}, 100);
  if (test::quick()) return;
  check_case<TestType>({2, 9000, 2, 1, 64, 128});
  check_case<TestType>({1, 300, 9, 1, 16, 64});
}

TEMPLATE_TEST_CASE("nothing is done for no numbers", "[nn_quasiseparable_mixer]", float, bf16) {
  for (const MixerShape& s : {MixerShape{0, 10, 2, 1, 4, 8}, MixerShape{2, 0, 2, 1, 4, 8},
                              MixerShape{2, 10, 2, 1, 0, 8}}) {
    INFO(test::text(s));
    CHECK(MixerCase<TestType>(s).forward().size() == 0);
  }
}

TEMPLATE_TEST_CASE("known results of the shift on a device", "[nn_quasiseparable_mixer]", float,
                   bf16) {
  MixerShape s{1, 4, 1, 1, 1, 1};
  s.state = false;
  MixerCase<TestType> k(s);
  const auto set = [](auto& array, std::vector<float> numbers) {
    auto here = to_host(array);
    for (index_t i = 0; i < here.size(); ++i) {
      here.data()[i] =
          std::remove_cvref_t<decltype(*here.data())>(numbers[numbers.size() == 1 ? 0 : i]);
    }
    array = to_device(here);
  };
  set(k.device.x, {1, 2, 4, 8}), set(k.device.a, {0}), set(k.device.d, {1});
  for (int i = 0; i < 2; ++i) {
    set(k.device.b[i], {1}), set(k.device.c[i], {1}), set(k.device.dt[i], {1});
  }
  auto m = k.device.matrix(s);
  m.softplus = false, m.dt_bias = {}, m.delta = {}, m.d = {};
  const auto results = [&] {
    return test::numbers(MixerCase<TestType>::forward(m, k.device.x.view()));
  };
  CHECK(results() == std::vector<double>{14, 13, 11, 7});
  m.d = k.device.d;
  CHECK(results() == std::vector<double>{15, 15, 15, 15});
  m.d = {}, m.shift = false;
  CHECK(results() == std::vector<double>{16, 17, 19, 23});
  m.shift = true;
  Array<index_t, 1> starts({3});
  starts(1) = 3, starts(2) = 4;
  const auto on_device = to_device(starts);
  m.starts = on_device;
  CHECK(results() == std::vector<double>{6, 5, 3, 0});
}

TEMPLATE_TEST_CASE("samples and packed sequences are those of each alone",
                   "[nn_quasiseparable_mixer]", float, bf16) {
  using T = TestType;
  const auto check = [](const MixerCase<T>& k, index_t first, index_t last, index_t begin,
                        index_t end) {
    const bool packed = !k.shape.starts.empty();
    const auto cut = [&](const auto& v) {
      return (packed ? v : v.slice(0, first, last)).slice(1, begin, end);
    };
    const Array<T, 4> whole = k.forward();
    const auto alone = MixerCase<T>::forward(
        test::part_of(k.device.matrix(k.shape), packed, first, last, begin, end),
        cut(k.device.x.view()));
    CHECK(test::numbers(alone) == test::numbers(to_array(cut(whole.view()))));
  };
  check(MixerCase<T>({3, 100, 2, 1, 16, 24}), 1, 2, 0, 100);
  const MixerCase<T> packed({1, 200, 2, 1, 8, 16, {0, 70, 70, 71, 200}});
  for (index_t s : {0, 2, 3}) {
    check(packed, s, s + 1, packed.shape.starts[s], packed.shape.starts[s + 1]);
  }
}

TEMPLATE_TEST_CASE("slices of one tensor give what copies give", "[nn_quasiseparable_mixer]", float,
                   bf16) {
  const MixerCase<TestType> k({2, 90, 2, 1, 16, 16});
  const auto contiguous = test::numbers(k.forward());
  // Rows that are a multiple of 16 bytes, and not.
  for (const index_t unused : {2, 7, 34930}) {
    const test::Projection<TestType> rows(k, unused);
    CHECK(test::numbers(MixerCase<TestType>::forward(rows.matrix(k), rows.x(k.shape))) ==
          contiguous);
  }
  // Numbers of a row that do not lie together, and in the opposite order.
  auto m = k.device.matrix(k.shape);
  const auto here = to_host(k.device.x);
  Array<TestType, 4> apart({2, 90, 2, 32});
  for (index_t i = 0; i < here.size(); ++i)
    apart.data()[2 * (i / 16 * 16 + 15 - i % 16)] = here.data()[i];
  const auto on_device = to_device(apart);
  const View<const TestType, 4, Cuda> x(on_device.data() + 30, {2, 90, 2, 16},
                                        {90 * 64, 64, 32, -2});
  CHECK(test::numbers(MixerCase<TestType>::forward(m, x)) == contiguous);
}

TEMPLATE_TEST_CASE("the mixer repeats", "[nn_quasiseparable_mixer]", float, bf16) {
  const MixerCase<TestType> k({2, 130, 2, 1, 24, 20});
  const auto first = test::numbers(k.forward());
  for (int i = 0; i < (test::quick() ? 2 : 30); ++i) CHECK(test::numbers(k.forward()) == first);
}

TEST_CASE("the mixer on a device refuses", "[nn_quasiseparable_mixer]") {
  const MixerCase<float> k({2, 20, 2, 1, 4, 8});
  auto m = k.device.matrix(k.shape);
  const View<const float, 4, Cuda> x = k.device.x;
  Array<float, 4, Cuda> y(x.extents());
  auto workspace = MixerCase<float>::memory(apply_workspace_bytes(m, x));
  const exec::cuda e{nullptr, workspace};
  CHECK_THROWS_AS(apply(e, m, x, y.view().slice(0, 0, 1).broadcast(0, 2)), Unsupported);
  CHECK_THROWS_AS(apply(e, m, x, View<float, 4, Cuda>(const_cast<float*>(x.data()), x.extents())),
                  DomainError);
  CHECK_THROWS_AS(apply(exec::cuda{}, m, x, y.view()), DomainError);
  m.backward.c = m.backward.c.slice(3, 0, 4);
  CHECK_THROWS_AS(apply(e, m, x, y.view()), ShapeError);
  const MixerCase<bf16> wide({1, 2, 1, 1, 1, 257});
  CHECK_THROWS_AS(wide.forward(), Unsupported);
}
