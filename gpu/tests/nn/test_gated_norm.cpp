// Gated norms on the device: against those of the CPU in double, and against themselves.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "structmat/core/error.hpp"
#include "structmat/nn/gated_norm.hpp"
#include "support/fixed_shape.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::quick;
using structmat::test::Random;

namespace {

using Cuda = space::cuda;

template <class T>
constexpr double eps = sizeof(T) == 2 ? 0x1p-8 : 0x1p-23;

template <class T, int Rank>
Array<T, Rank> stored(const Array<double, Rank>& from) {
  Array<T, Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(),
                 [](double v) { return static_cast<T>(static_cast<float>(v)); });
  return to;
}
template <class T, int Rank>
Array<double, Rank> doubles(const Array<T, Rank>& from) {
  Array<double, Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(),
                 [](T v) { return static_cast<double>(static_cast<float>(v)); });
  return to;
}
bool same(const auto& a, const auto& b) {
  return a.extents() == b.extents() &&
         std::memcmp(a.data(), b.data(), sizeof(*a.data()) * static_cast<std::size_t>(a.size())) == 0;
}
/// |a - b| <= tolerance (1 + |b|) in all places.
template <class T, int Rank>
void check_close(const Array<T, Rank>& a, const Array<double, Rank>& b, double tolerance) {
  REQUIRE(a.extents() == b.extents());
  double worst = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double v = static_cast<double>(static_cast<float>(a.data()[i])), w = b.data()[i];
    const double error = std::abs(v - w) / (1 + std::abs(w));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  CHECK(worst <= tolerance);
}
template <class A>
auto constant(const A& from) {
  return View<const typename A::value_type, A::rank, Cuda>(from);
}

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
  gated_norm_vjp<T>(exec::cuda{nullptr, workspace}, in, gate, weights, k.options, bar,
                    x_bar.view(), z_bar.view(), w_bar.view());
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
