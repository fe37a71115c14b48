// Gated norms on the device: against those of the CPU in double, and against themselves.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "structmat/core/error.hpp"
#include "structmat/nn/gated_norm.hpp"
#include "support/fixed_shape.hpp"
#include "support/random.hpp"
#include "support/storage.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::check_close, structmat::test::doubles, structmat::test::eps;
using structmat::test::quick, structmat::test::Random;
using structmat::test::same, structmat::test::stored;

namespace {

using Cuda = space::cuda;

/// Operands that T can hold.
template <class T>
struct Case {
  Case(index_t rows, index_t channels, unsigned seed) {
    Random random(seed);
    const std::array<index_t, 2> extents{rows, channels};
    x = stored<T>(random.array<double, 2>(extents));
    z = stored<T>(random.array<double, 2>(extents));
    y_bar = stored<T>(random.array<double, 2>(extents));
    w = stored<float>(random.array<double, 1>({channels}));
    options.epsilon = 1e-2;
    options.accumulate = false;
  }

  Array<T, 2> x, z, y_bar;
  Array<float, 1> w;
  GatedNormOptions options;
  bool with_z = true, with_w = true;
};

template <class T>
struct Result {
  Array<T, 2> y, x_bar, z_bar;
  Array<float, 1> w_bar;
};
/// What cotangents are before they are added to or set.
constexpr float before = 0.25f;

template <class T>
Result<T> run(const Case<T>& k) {
  const auto x = to_device(k.x), z = to_device(k.z), y_bar = to_device(k.y_bar);
  const auto w = to_device(k.w);
  Array<T, 2> old(k.x.extents());
  Array<float, 1> old_w(k.w.extents());
  std::fill(old.begin(), old.end(), T(before));
  std::fill(old_w.begin(), old_w.end(), before);
  auto y = to_device(old), x_bar = to_device(old), z_bar = to_device(old);
  auto w_bar = to_device(old_w);
  View<const T, 2, Cuda> gate;
  View<const float, 1, Cuda> weights;
  if (k.with_z) gate = z;
  if (k.with_w) weights = w;
  const View<const T, 2, Cuda> in(x), bar(y_bar);
  gated_norm<T>(exec::cuda{}, in, gate, weights, k.options, y.view());
  Array<std::byte, 1> junk({gated_norm_vjp_workspace_bytes<T>(in, k.options)});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  auto workspace = to_device(junk);
  gated_norm_vjp<T>(exec::cuda{nullptr, workspace}, in, gate, weights, k.options, bar, x_bar.view(),
                    z_bar.view(), w_bar.view());
  device_synchronize();
  return {to_host(y), to_host(x_bar), to_host(z_bar), to_host(w_bar)};
}

/// Against the CPU in double, for operands that are the same numbers.
template <class T>
void check_against_host(const Case<T>& k) {
  CAPTURE(k.x.extents(), k.options.group, int(k.options.gate), k.options.accumulate, sizeof(T),
          k.with_z, k.with_w);
  const auto x = doubles(k.x), z = doubles(k.z), y_bar = doubles(k.y_bar);
  const auto w = doubles(k.w);
  View<const double, 2> gate;
  View<const double, 1> weights;
  if (k.with_z) gate = z;
  if (k.with_w) weights = w;
  Array<double, 2> y(x.extents()), x_bar(x.extents()), z_bar(x.extents());
  Array<double, 1> w_bar(w.extents());
  const double old = k.options.accumulate ? before : 0;
  std::fill(x_bar.begin(), x_bar.end(), old);
  std::fill(z_bar.begin(), z_bar.end(), k.with_z ? old : before);
  std::fill(w_bar.begin(), w_bar.end(), old);
  GatedNormOptions added = k.options;
  added.accumulate = true;
  const View<const double, 2> in(x), bar(y_bar);
  gated_norm(exec::cpu{}, in, gate, weights, added, y.view());
  gated_norm_vjp(exec::cpu{}, in, gate, weights, added, bar, x_bar.view(), z_bar.view(),
                 w_bar.view());
  const Result<T> r = run(k);
  // A sum over a group in float, and a handful of products.
  const double tolerance = eps<T> + 32 * eps<float>;
  check_close(r.y, y, tolerance);
  // The scale is at most 10 and stands before a difference.
  check_close(r.x_bar, x_bar, tolerance + 128 * eps<float>);
  check_close(r.z_bar, z_bar, tolerance + 128 * eps<float>);
  check_close(r.w_bar, w_bar, 32 * eps<float> * (1 + std::sqrt(double(x.extent(0)))));
}

}  // namespace

TEMPLATE_TEST_CASE("gated norms as on the CPU", "[nn_gated_norm]", float, bf16) {
  for (const Gate gate : {Gate::after, Gate::before}) {
    for (const index_t rows : {0, 1, 3, 70}) {
      for (const index_t group : {0, 1, 4, 8, 16, 48}) {
        Case<TestType> k(rows, 48, 1);
        k.options.gate = gate, k.options.group = group;
        check_against_host(k);
        k.options.accumulate = true, k.with_w = false;
        check_against_host(k);
        k.with_z = false;
        check_against_host(k);
      }
    }
  }
}

TEMPLATE_TEST_CASE("gated norms of few and of many channels", "[nn_gated_norm]", float, bf16) {
  for (const index_t channels : {1, 7, 30, 264, 768, 1288, 2048, 4096, 8192, 9000, 16392}) {
    check_against_host(Case<TestType>(channels < 2000 ? 19 : 3, channels, 2));
  }
}

TEMPLATE_TEST_CASE("gated norms in place, of slices and of any strides", "[nn_gated_norm]", float,
                   bf16) {
  const index_t rows = 20, channels = 64, width = quick() ? 352 : 35072;
  Case<TestType> k(rows, channels, 3);
  k.options.gate = GENERATE(Gate::after, Gate::before);
  k.options.group = GENERATE(0, 16);
  const auto plain = run(k);
  const auto w = to_device(k.w);
  const auto spread = [&](const Array<TestType, 2>& from, index_t offset, index_t step) {
    Array<TestType, 2> wide({rows, width});
    for (index_t i = 0; i < rows; ++i) {
      for (index_t c = 0; c < channels; ++c) wide(i, offset + c * step) = from(i, c);
    }
    return to_device(wide);
  };
  const auto part = [&](const auto& wide, index_t offset, index_t step) {
    auto* first = const_cast<TestType*>(wide.data()) + offset;
    return View<TestType, 2, Cuda>(first, {rows, channels}, {width, step});
  };
  const std::array<index_t, 2> layouts[] = {{32, 1}, {33, 1}, {4, 3}, {200, -2}};
  for (const auto& [offset, step] : layouts) {
    CAPTURE(offset, step);
    auto x = spread(k.x, offset, step);
    const auto z = spread(k.z, offset, step), y_bar = spread(k.y_bar, offset, step);
    auto x_bar = spread(k.x, offset, step), z_bar = spread(k.x, offset, step);
    Array<float, 1, Cuda> w_bar(k.w.extents());
    const auto constant = [&](const auto& wide) {
      return View<const TestType, 2, Cuda>(part(wide, offset, step));
    };
    const View<const float, 1, Cuda> weights(w);
    Array<std::byte, 1, Cuda> workspace(
        {gated_norm_vjp_workspace_bytes<TestType>(constant(x), k.options)}, uninitialized);
    gated_norm_vjp<TestType>(exec::cuda{nullptr, workspace}, constant(x), constant(z), weights,
                             k.options, constant(y_bar), part(x_bar, offset, step),
                             part(z_bar, offset, step), w_bar.view());
    gated_norm<TestType>(exec::cuda{}, constant(x), constant(z), weights, k.options,
                         part(x, offset, step));
    device_synchronize();
    // In vectors or not, sums are in another order.
    const auto close = [&](const Array<TestType, 2, Cuda>& wide, const Array<TestType, 2>& to) {
      const auto here = to_host(wide);
      Array<TestType, 2> got({rows, channels});
      for (index_t i = 0; i < rows; ++i) {
        for (index_t c = 0; c < channels; ++c) got(i, c) = here(i, offset + c * step);
      }
      check_close(got, doubles(to), 2 * eps<TestType> + 128 * eps<float>);
      if (offset == 32) CHECK(same(got, to));
    };
    close(x, plain.y);
    close(x_bar, plain.x_bar);
    close(z_bar, plain.z_bar);
    check_close(to_host(w_bar), doubles(plain.w_bar), 256 * eps<float>);
  }
}

TEMPLATE_TEST_CASE("gated norms repeat, and a row does not depend on others", "[nn_gated_norm]",
                   float, bf16) {
  for (const index_t channels : {72, 512}) {
    const Case<TestType> k(quick() ? 600 : 3000, channels, 4);
    const auto first = run(k);
    for (int i = 0; i < (quick() ? 1 : 30); ++i) {
      const auto again = run(k);
      REQUIRE(same(again.y, first.y));
      REQUIRE(same(again.x_bar, first.x_bar));
      REQUIRE(same(again.z_bar, first.z_bar));
      REQUIRE(same(again.w_bar, first.w_bar));
    }
    Case<TestType> alone = k;
    const auto one = [](const auto& from) { return to_array(from.view().slice(0, 570, 571)); };
    alone.x = one(k.x), alone.z = one(k.z), alone.y_bar = one(k.y_bar);
    const auto r = run(alone);
    CHECK(same(r.y, one(first.y)));
    CHECK(same(r.x_bar, one(first.x_bar)));
    CHECK(same(r.z_bar, one(first.z_bar)));
  }
}

TEST_CASE("gated norms of many rows and groups", "[nn_gated_norm]") {
  Case<bf16> k(quick() ? 900 : 70000, 32, 5);
  check_against_host(k);
  k.options.group = 8;
  check_against_host(k);
  Case<float> wide(3, quick() ? 2400 : 80000, 6);
  wide.options.group = 1;
  check_against_host(wide);
  wide.options.group = 4;
  check_against_host(wide);
}

TEST_CASE("offsets beyond 32 bits in gated norms", "[nn_gated_norm]") {
  if (quick()) return;
  const Case<bf16> k(70, 8, 7);
  const auto plain = run(k);
  const auto z = to_device(k.z);
  const auto w = to_device(k.w);
  const index_t apart = index_t(1) << 26;
  Array<bf16, 1, Cuda> memory({70 * apart}, uninitialized);
  for (index_t i = 0; i < 70; ++i) {
    structmat::detail::copy_host_to_device(memory.data() + i * apart, &k.x(i, 0), 8 * sizeof(bf16));
  }
  const View<bf16, 2, Cuda> x(memory.data(), {70, 8}, {apart, 1});
  gated_norm<bf16>(exec::cuda{}, View<const bf16, 2, Cuda>(x), View<const bf16, 2, Cuda>(z),
                   View<const float, 1, Cuda>(w), k.options, x);
  device_synchronize();
  Array<bf16, 2> y(k.x.extents());
  for (index_t i = 0; i < 70; ++i) {
    structmat::detail::copy_device_to_host(&y(i, 0), memory.data() + i * apart, 8 * sizeof(bf16));
  }
  CHECK(same(y, plain.y));
}

TEST_CASE("gated norms of what is not finite", "[nn_gated_norm]") {
  Case<float> k(3, 16, 8);
  k.x(1, 2) = NAN;
  k.z(0, 0) = -INFINITY;
  const auto r = run(k);
  CHECK(r.y(0, 0) == 0);
  CHECK(r.z_bar(0, 0) == 0);
  for (index_t c = 0; c < 16; ++c) {
    CHECK(std::isfinite(r.y(0, c)));
    CHECK(std::isnan(r.y(1, c)));
    CHECK(std::isfinite(r.y(2, c)));
  }
}

TEST_CASE("gated norms refuse what does not fit", "[nn_gated_norm]") {
  const Case<float> k(4, 16, 9);
  const auto z = to_device(k.z);
  const View<const float, 2, Cuda> zv(z);
  Array<float, 2, Cuda> x({5, 16});
  const View<float, 2, Cuda> first = x.view().slice(0, 0, 4), second = x.view().slice(0, 1, 5);
  const View<const float, 2, Cuda> xv(first);
  GatedNormOptions o;
  CHECK_THROWS_WITH(gated_norm<float>(exec::cuda{}, xv, zv.slice(1, 0, 8), {}, o, first),
                    "nn::gated_norm: z is 4 x 8, x is 4 x 16");
  CHECK_THROWS_AS(gated_norm<float>(exec::cuda{}, xv, zv, {}, o, second), DomainError);
  CHECK_THROWS_AS(gated_norm<float>(exec::cuda{}, zv, {}, {}, o,
                                    View<float, 2, Cuda>(x.data(), {4, 16}, {0, 1})),
                  Unsupported);
  CHECK_THROWS_AS(gated_norm_vjp<float>(exec::cuda{}, xv, zv, {}, o, zv, second, {}, {}),
                  DomainError);
  o.group = 5;
  CHECK_THROWS_WITH(gated_norm<float>(exec::cuda{}, xv, zv, {}, o, first),
                    "nn::gated_norm: groups of 5 channels do not divide 16");
}

TEST_CASE("gated norms have a fixed shape", "[nn_fixed_shape]") {
  const Case<bf16> k(70, 96, 10);
  const auto x = to_device(k.x), z = to_device(k.z), y_bar = to_device(k.y_bar);
  const auto w = to_device(k.w);
  const View<const bf16, 2, Cuda> xv(x), zv(z), bar(y_bar);
  const View<const float, 1, Cuda> wv(w);
  Array<bf16, 2, Cuda> y(k.x.extents()), x_bar(k.x.extents()), z_bar(k.x.extents());
  Array<float, 1, Cuda> w_bar(k.w.extents());
  GatedNormOptions o;
  test::check_fixed_shape(
      "nn/gated_norm.hpp gated_norm ", gated_norm_workspace_bytes<bf16>(xv, o),
      [&](const exec::cuda& e) { gated_norm<bf16>(e, xv, zv, wv, o, y.view()); }, y);
  test::check_fixed_shape(
      "nn/gated_norm.hpp gated_norm_vjp ", gated_norm_vjp_workspace_bytes<bf16>(xv, o),
      [&](const exec::cuda& e) {
        gated_norm_vjp<bf16>(e, xv, zv, wv, o, bar, x_bar.view(), z_bar.view(), w_bar.view());
      },
      x_bar, z_bar, w_bar);
}
