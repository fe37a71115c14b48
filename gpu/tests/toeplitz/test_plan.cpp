// Plans on a device: transforms in one block, in three launches, by the library.
#include "structmat/toeplitz/plan.hpp"

#include <catch2/catch.hpp>

#include "structmat/fft/plan.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

constexpr toeplitz::PlanOptions by_transforms{.method = toeplitz::Method::fourier};

template <class M>
auto device_plan(const M& m, const toeplitz::PlanOptions& options = by_transforms) {
  using T = typename M::value_type;
  return ToeplitzPlan<T, space::cuda>(exec::cuda{}, to_device(m).view(), options);
}
template <class M>
auto planned(const M& m, const toeplitz::PlanOptions& options = by_transforms) {
  return on_device(m, device_plan(m, options));
}

/// Rows of y = op(T) x by the definition, in double.
template <class T>
void check_rows(const Toeplitz<T>& t, Op op, const Array<T, 3>& x, const Array<T, 3>& y,
                const std::vector<index_t>& rows) {
  using W = std::complex<double>;
  const index_t n = op == Op::none ? t.cols() : t.rows();
  for (index_t b = 0; b < y.extent(0); ++b) {
    const index_t own = t.batch() == 1 ? 0 : b;
    double lag_squares = 0;
    for (index_t l = 0; l < t.lags.extent(1); ++l) lag_squares += std::norm(W(t.lags(own, l)));
    for (index_t c = 0; c < y.extent(2); ++c) {
      double squares = 0;
      for (index_t j = 0; j < n; ++j) squares += std::norm(W(x(b, j, c)));
      for (const index_t i : rows) {
        W sum = 0;
        for (index_t j = 0; j < n; ++j) {
          const W lag(t.lags(own, (op == Op::none ? i - j : j - i) + t.cols() - 1));
          sum += (op == Op::adjoint ? std::conj(lag) : lag) * W(x(b, j, c));
        }
        CHECK(std::abs(W(y(b, i, c)) - sum) <=
              8 * std::log2(double(n) + 2) * double(epsilon<T>) * std::sqrt(lag_squares * squares));
      }
    }
  }
}

template <class T>
void check_long(index_t m, index_t n, index_t batch, index_t k, Random& random,
                index_t expected_length) {
  INFO(m << " x " << n << ", batch " << batch << ", k " << k);
  const auto t = random_toeplitz<T>(m, n, batch, random);
  const auto plan = planned(t);
  CHECK(plan.device().block_length() == expected_length);
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? n : m, out = op == Op::none ? m : n;
    const auto x = random.array<T, 3>({batch, in, k});
    auto y = poisoned<T, 3>({batch, out, k});
    apply_op(exec::cpu{}, plan, op, x, y);
    check_rows(t, op, x, y, {0, 1, out / 3, out - 1});
  }
}

}  // namespace

TEMPLATE_TEST_CASE("products by transforms of one block", "[toeplitz_plan]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  const std::vector<index_t> sizes =
      quick() ? std::vector<index_t>{1, 2, 16, 17, 40, 100, 300}
              : std::vector<index_t>{1, 2, 16, 17, 33, 100, 129, 300, 1000};
  for (const index_t n : sizes) {
    for (const index_t k : {1, 3}) {
      if (n > 100 && k > 1) continue;
      check_products(planned(random_toeplitz<T>(n, n, 1 + n % 2, random)), normwise<T>(n), k,
                     random);
    }
    if (n > 100) continue;
    check_products(planned(random_hankel<T>(n, n, 1, random)), normwise<T>(n), 2, random);
    check_products(planned(random_circulant<T>(n, 1, random)), normwise<T>(n), 1, random);
    check_products(planned(random_skew_circulant<T>(n, 1, random)), normwise<T>(n), 1, random);
  }
}

TEMPLATE_TEST_CASE("rectangular, empty, linear, any stride", "[toeplitz_plan]", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const auto& [m, n] : std::initializer_list<std::array<index_t, 2>>{
           {1, 3}, {0, 5}, {5, 0}, {1, 200}, {200, 1}, {100, 20}, {33, 65}}) {
    check_products(planned(random_toeplitz<T>(m, n, 2, random)), normwise<T>(m + n), 2, random);
    check_products(planned(random_hankel<T>(m, n, 1, random)), normwise<T>(m + n), 1, random);
  }
  check_linearity(planned(random_toeplitz<T>(40, 33, 2, random)), normwise<T>(73), random);
  for (const index_t k : {1, 3}) {
    check_strides(planned(random_toeplitz<T>(129, 77, 2, random)), k, random);
    check_strides(planned(random_hankel<T>(40, 60, 2, random)), k, random);
  }
  check_errors(planned(random_toeplitz<T>(7, 5, 2, random)), "toeplitz");
}

TEMPLATE_TEST_CASE("every length of one block", "[toeplitz_plan]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(3);
  const index_t longest = sizeof(real_t<T>) == 4 ? 8192 : 4096;
  for (index_t length = 512; length <= longest; length *= 2)
    check_long<T>(length, length - 5, 1, 1, random, length);
}

TEMPLATE_TEST_CASE("three launches", "[toeplitz_plan]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(4);
  check_long<T>(9000, 10000, 2, 3, random, 16384);
  // Columns of 256.
  if (!quick() || std::same_as<T, double> || std::same_as<T, std::complex<float>>)
    check_long<T>(70000, 66000, 1, 1, random, 131072);
  if (!quick()) check_long<T>(1000000, 1000000, 1, 1, random, 1 << 20);
}

TEST_CASE("strides and broadcasts in three launches", "[toeplitz_plan]") {
  Random random(5);
  const index_t n = 8200;
  const auto t = random_toeplitz<float>(n, n, 1, random);
  const auto plan = planned(t);
  const auto x = random.array<float, 3>({3, n, 2});
  auto y = poisoned<float, 3>({3, n, 2});
  apply(exec::cpu{}, plan, x, y);
  check_rows(t, Op::none, x, y, {0, 8000});
  Array<float, 3> x_store({3, n, 5}), y_store({3, 2 * n, 2});
  const auto xs = x_store.view().slice(2, 1, 3).reversed(1);
  const View<float, 3> ys(y_store.data(), {3, n, 2}, {4 * n, 4, 1});
  copy(x.view(), xs);
  apply(exec::cpu{}, plan, xs, ys);
  CHECK(same_bits(to_array(ys), y));
}

TEST_CASE("lengths that the library transforms", "[toeplitz_plan]") {
  Random random(6);
  const index_t n = (index_t{1} << 20) + 5;
  check_long<double>(n, n - 100, 1, 1, random, fft::good_length(n));
  if (!quick()) {
    check_long<float>(2 * n, 2 * n, 1, 2, random, fft::good_length(2 * n));
    check_long<std::complex<float>>(2 * n, 2 * n, 1, 1, random, fft::good_length(2 * n));
  }
}

TEST_CASE("a sample does not depend on its batch; results repeat", "[toeplitz_plan]") {
  Random random(7);
  for (const index_t n : {index_t{100}, index_t{9000}}) {
    const auto t = random_toeplitz<float>(n, n, 1, random);
    const auto x = random.array<float, 3>({5, n, 3});
    const auto plan = planned(t);
    const auto y = plan * x, again = plan * x;
    CHECK(same_bits(y, again));
    const Array<float, 3> one =
        to_array(View<const float, 3>(x.view().slice(0, 3, 4).slice(2, 1, 2)));
    const auto alone = plan * one;
    for (index_t i = 0; i < n; ++i) {
      if (alone(0, i, 0) != y(3, i, 1)) FAIL("row " << i);
    }
  }
}

TEST_CASE("products in a graph, and with the least workspace", "[toeplitz_plan]") {
  Random random(11);
  for (const index_t n : {index_t{150}, index_t{8200}}) {
    const auto t = random_toeplitz<float>(n, n, 1, random);
    const auto plan = device_plan(t);
    const auto x = random.array<float, 3>({3, n, 1});
    const auto expected = planned(t) * x;
    const auto xd = to_device(x);
    auto y = to_device(poisoned<float, 3>({3, n, 1}));
    Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(plan, 1)});
    replay([&](void* stream) {
      apply(exec::cuda{stream, workspace}, plan, Op::none, xd.view(), y.view());
    });
    CHECK(same_bits(to_host(y), expected));
  }
  // The library's transforms are captured too.
  const index_t n = (index_t{1} << 20) + 1;
  Toeplitz<double> t(n, n);
  t.lags(0, n - 1) = 2;
  t.lags(0, n) = 1;
  const auto plan = device_plan(t);
  Array<double, 3> x({1, n, 1});
  x(0, 0, 0) = 1;
  const auto xd = to_device(x);
  auto y = to_device(poisoned<double, 3>({1, n, 1}));
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(plan, 1)});
  replay([&](void* stream) {
    apply(exec::cuda{stream, workspace}, plan, Op::none, xd.view(), y.view());
  });
  const auto got = to_host(y);
  double worst = 0;
  for (index_t i = 0; i < n; ++i)
    worst = std::max(worst, std::abs(got(0, i, 0) - (i == 0 ? 2 : i == 1 ? 1 : 0)));
  CHECK(worst <= 1e-13);
}

TEST_CASE("a device plan says what it chose", "[toeplitz_plan]") {
  Random random(8);
  const auto small = random_toeplitz<double>(20, 20, 1, random);
  auto large = random_toeplitz<double>(3000, 3000, 1, random);
  CHECK(device_plan(small, {}).method() == toeplitz::Method::direct);
  CHECK(device_plan(small, {}).block_length() == 0);
  CHECK(device_plan(large, {}).method() == toeplitz::Method::fourier);
  CHECK(device_plan(large, {}).block_length() == 4096);
  CHECK(device_plan(large, {.accuracy = toeplitz::Accuracy::componentwise}).method() ==
        toeplitz::Method::direct);
  CHECK_THROWS_AS(device_plan(large, {.accuracy = toeplitz::Accuracy::componentwise,
                                      .method = toeplitz::Method::fourier}),
                  DomainError);
  large.lags(0, 17) = INFINITY;
  const auto plan = planned(large);
  CHECK(plan.device().method() == toeplitz::Method::direct);
  // c_{17 - 2999}: the last 18 columns of the first 18 rows.
  const auto y = plan * random.array<double, 1>({3000});
  for (index_t i = 0; i < 3000; ++i) CHECK(std::isfinite(y(i)) == (i >= 18));
}

TEST_CASE("lags near the ends of the range", "[toeplitz_plan]") {
  Random random(9);
  const index_t n = 200;
  const auto t = random_toeplitz<double>(n, n, 1, random);
  const auto x = random.array<double, 1>({n});
  const auto expected = planned(t) * x;
  for (const auto& [lag_scale, x_scale] :
       std::initializer_list<std::array<double, 2>>{{0x1p1020, 0x1p-1010}, {0x1p-1000, 0x1p1000}}) {
    auto scaled = t;
    auto v = x;
    for (double& c : scaled.lags) c *= lag_scale;
    for (double& c : v) c *= x_scale;
    const auto y = planned(scaled) * v;
    for (index_t i = 0; i < n; ++i)
      CHECK(std::abs(y(i) / x_scale / lag_scale - expected(i)) <= 1e-12);
  }
}

TEST_CASE("workspaces are checked before anything is written", "[toeplitz_plan]") {
  Random random(10);
  const index_t n = 8200;
  const auto plan = device_plan(random_toeplitz<float>(n, n, 1, random));
  const index_t bytes = apply_workspace_bytes(plan, 1);
  CHECK(bytes == 16384 * 8);
  CHECK(apply_workspace_bytes(plan, 0) == 0);
  CHECK_THROWS_AS(apply_workspace_bytes(plan, -1), ShapeError);
  const auto x = to_device(random.array<float, 3>({1, n, 1}));
  auto y = to_device(Array<float, 3>({1, n, 1}));
  Array<std::byte, 1, space::cuda> workspace({bytes});
  const auto run = [&](View<std::byte, 1, space::cuda> w, View<float, 3, space::cuda> out) {
    apply(exec::cuda{nullptr, w}, plan, Op::none, x.view(), out);
  };
  CHECK_THROWS_AS(run(workspace.view().slice(0, 0, bytes - 1), y.view()), DomainError);
  CHECK_THROWS_AS(run({reinterpret_cast<std::byte*>(y.data()), {bytes}}, y.view()), DomainError);
  const View<float, 3, space::cuda> broadcast(y.data(), {1, n, 1}, {0, 0, 0});
  CHECK_THROWS_AS(run(workspace.view(), broadcast), Unsupported);
  for (const float v : to_host(y)) CHECK(v == 0);
}
