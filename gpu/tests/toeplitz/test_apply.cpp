// Products without a plan: sums on the device.
#include "structmat/toeplitz/apply.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("sums on a device match the entries", "[toeplitz_apply]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 7, 129, 300}) {
    if (n > 129 && !std::same_as<T, double>) continue;
    for (const index_t k : {1, 6}) {
      if (n > 100 && k > 1) continue;
      check_products(on_device(random_toeplitz<T>(n, n, 1 + n % 2, random)), 0, k, random);
    }
    check_products(on_device(random_hankel<T>(n, n, 1, random)), 0, 1, random);
    check_products(on_device(random_circulant<T>(n, 2, random)), 0, 2, random);
    check_products(on_device(random_skew_circulant<T>(n, 1, random)), 0, 1, random);
  }
  for (const auto& [m, n] : std::initializer_list<std::array<index_t, 2>>{
           {1, 3}, {3, 1}, {0, 5}, {5, 0}, {1, 300}, {300, 1}, {20, 140}, {290, 3}}) {
    check_products(on_device(random_toeplitz<T>(m, n, 2, random)), 0, 2, random);
    check_products(on_device(random_hankel<T>(m, n, 1, random)), 0, 1, random);
  }
}

TEST_CASE("sums on a device are linear, take any stride, refuse what does not fit",
          "[toeplitz_apply]") {
  Random random(2);
  const auto t = on_device(random_toeplitz<double>(29, 17, 2, random));
  const auto h = on_device(random_hankel<std::complex<float>>(29, 17, 2, random));
  check_linearity(t, 0, random);
  check_linearity(h, 0, random);
  for (const index_t k : {1, 5}) {
    check_strides(t, k, random);
    check_strides(h, k, random);
    check_strides(on_device(random_skew_circulant<double>(9, 2, random)), k, random);
  }
  check_errors(t, "toeplitz");
  check_errors(h, "hankel");
  check_errors(on_device(random_circulant<float>(5, 2, random)), "circulant");
}

TEST_CASE("matrices with gaps between their numbers", "[toeplitz_apply]") {
  Random random(3);
  const auto wide = random.array<double, 2>({2, 3 * 21});
  Array<double, 2> narrow({2, 21});
  for (index_t b = 0; b < 2; ++b) {
    for (index_t l = 0; l < 21; ++l) narrow(b, l) = wide(b, 3 * (20 - l));
  }
  Toeplitz<double> t(11, 11, 2);
  t.lags = narrow;
  const auto x = random.array<double, 3>({2, 11, 2});
  const auto expected = t * x;
  const auto there = to_device(wide);
  const auto x_there = to_device(x);
  const View<const double, 2, space::cuda> lags(there.data() + 60, {2, 21}, {63, -3});
  Array<double, 3, space::cuda> y(x.extents());
  apply(exec::cuda{}, ToeplitzView<double, space::cuda>{lags, 11, 11}, x_there, y);
  const auto got = to_host(y);
  for (index_t i = 0; i < got.size(); ++i)
    CHECK(std::abs(got.data()[i] - expected.data()[i]) <= 1e-13);
}

TEST_CASE("sums keep small entries beside large ones, and what is not finite in its rows",
          "[toeplitz_apply]") {
  Random random(4);
  const index_t n = 300;
  auto t = random_toeplitz<double>(n, n, 1, random);
  t.lags(0, 2 * n - 2) = 1e30;
  check_products(on_device(t), 0, 1, random);
  t.lags(0, n - 1 + 40) = NAN;
  const auto y = on_device(t) * random.array<double, 1>({n});
  for (index_t i = 0; i < n; ++i) CHECK(std::isfinite(y(i)) == (i < 40));
}
