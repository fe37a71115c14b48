#include "structmat/toeplitz/plan.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "support/battery.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

constexpr toeplitz::PlanOptions by_transforms{.method = toeplitz::Method::fourier};

template <class M>
ToeplitzPlan<typename M::value_type> fourier(const M& m) {
  return ToeplitzPlan<typename M::value_type>(m.view(), by_transforms);
}

}  // namespace

TEMPLATE_TEST_CASE("products by transforms match the entries", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  const auto accuracy = [](index_t n) { return normwise<T>(n); };
  for (const index_t n : {0, 1, 2, 3, 7, 16, 127, 128, 129, 257}) {
    if (n > 129 && !std::same_as<T, double>) continue;
    for (const index_t k : {1, 9}) {
      if (n > 100 && k > 1) continue;
      check_products(fourier(random_toeplitz<T>(n, n, 1 + n % 2, random)), accuracy(n), k, random);
    }
    check_products(fourier(random_hankel<T>(n, n, 1, random)), accuracy(n), 2, random);
    check_products(fourier(random_circulant<T>(n, 1, random)), accuracy(n), 1, random);
    check_products(fourier(random_skew_circulant<T>(n, 1, random)), accuracy(n), 1, random);
  }
}

TEMPLATE_TEST_CASE("short and long: blocks of rows, blocks of columns", "", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const auto& [m, n] : std::initializer_list<std::array<index_t, 2>>{{1, 3},
                                                                          {3, 1},
                                                                          {0, 5},
                                                                          {5, 0},
                                                                          {1, 500},
                                                                          {500, 1},
                                                                          {700, 40},
                                                                          {40, 700},
                                                                          {300, 290},
                                                                          {33, 65}}) {
    for (const index_t k : {1, 3}) {
      check_products(fourier(random_toeplitz<T>(m, n, 2, random)), normwise<T>(m + n), k, random);
      check_products(fourier(random_hankel<T>(m, n, 1, random)), normwise<T>(m + n), k, random);
    }
  }
}

TEMPLATE_TEST_CASE("plans are linear, take any stride and any number of threads", "", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(3);
  const auto check = [&](const auto& m) {
    check_linearity(m, normwise<T>(m.rows() + m.cols()), random);
    for (const index_t k : {1, 3, 9}) check_strides(m, k, random);
    check_threads(m, 9, random);
  };
  check(fourier(random_toeplitz<T>(1, 1, 2, random)));
  check(fourier(random_toeplitz<T>(129, 77, 2, random)));
  check(fourier(random_toeplitz<T>(40, 300, 1, random)));
  check(fourier(random_hankel<T>(129, 50, 2, random)));
  check_threads(fourier(random_toeplitz<T>(3000, 3000, 2, random)), 17, random);
  check_errors(fourier(random_toeplitz<T>(7, 5, 2, random)), "toeplitz");
}

TEST_CASE("a plan says what it chose") {
  Random random(4);
  const auto small = random_toeplitz<double>(20, 20, 1, random);
  const auto large = random_toeplitz<double>(3000, 3000, 1, random);
  CHECK(ToeplitzPlan<double>(small.view()).method() == toeplitz::Method::direct);
  CHECK(ToeplitzPlan<double>(small.view()).block_length() == 0);
  const ToeplitzPlan<double> plan(large.view());
  CHECK(plan.method() == toeplitz::Method::fourier);
  CHECK(plan.block_length() == 3000);  // 2^3 3 5^3
  const ToeplitzPlan<double> exact(large.view(), {.accuracy = toeplitz::Accuracy::componentwise});
  CHECK(exact.method() == toeplitz::Method::direct);
  CHECK_THROWS_AS(ToeplitzPlan<double>(large.view(), {.accuracy = toeplitz::Accuracy::componentwise,
                                                      .method = toeplitz::Method::fourier}),
                  DomainError);
  // A prime sum of extents does not become the length of a transform.
  const Toeplitz<double> prime(1009, 995);
  CHECK(ToeplitzPlan<double>(prime.view()).block_length() == 1024);
}

TEST_CASE("a long matrix with the entries of a small one") {
  // [[1, 0], [1e20, 1]] in the corner of 5000 x 5000, by sums and by transforms.
  const index_t n = 5000;
  Toeplitz<double> t(n, n);
  t.lags(0, n - 1) = 1;
  t.lags(0, n) = 1e20;
  Array<double, 1> x({n});
  x(0) = 1;
  auto y = ToeplitzPlan<double>(t.view(), {.accuracy = toeplitz::Accuracy::componentwise}) * x;
  CHECK(y(0) == 1);
  CHECK(y(1) == 1e20);
  for (index_t i = 2; i < n; ++i) CHECK(y(i) == 0);
  y = fourier(t) * x;
  for (index_t i = 0; i < n; ++i) {
    const double exact = i == 0 ? 1 : i == 1 ? 1e20 : 0;
    CHECK(std::abs(y(i) - exact) <= 8 * 13 * 2.3e-16 * 1e20);
  }
  // The row [2, 5, 7] at the beginning of one long row and of many.
  for (const index_t m : {index_t{1}, n}) {
    Toeplitz<double> row(m, n);
    row.lags(0, n - 1) = 2;
    row.lags(0, n - 2) = 5;
    row.lags(0, n - 3) = 7;
    x = Array<double, 1>({n});
    x(0) = 1;
    x(1) = 10;
    x(2) = 100;
    CHECK((fourier(row) * x)(0) == Approx(752).epsilon(1e-12));
  }
}

TEST_CASE("transposed and adjoint complex matrices, inside long ones") {
  // [[1, 2 i], [i, 1]] in the corner.
  using T = std::complex<double>;
  const T i(0, 1);
  const index_t n = 4099;
  Toeplitz<T> t(n, n);
  t.lags(0, n - 1) = 1;
  t.lags(0, n) = i;
  t.lags(0, n - 2) = 2.0 * i;
  Array<T, 1> x({n});
  x(0) = 1;
  x(1) = i;
  const auto plan = fourier(t);
  const std::array<T, 2> expected[] = {{T(-1), 2.0 * i}, {T(0), 3.0 * i}, {T(2), -i}};
  for (const Op op : all_ops) {
    auto y = poisoned<T, 1>({n});
    apply_op(exec::cpu{}, plan, op, x, y);
    CHECK(std::abs(y(0) - expected[int(op)][0]) <= 1e-14);
    CHECK(std::abs(y(1) - expected[int(op)][1]) <= 1e-14);
  }
}

TEST_CASE("long sequences of prime length, and long strips, in a row or two of the definition") {
  Random random(10);
  for (const auto& [m, n] : std::initializer_list<std::array<index_t, 2>>{
           {100003, 100003}, {300, 100003}, {100003, 300}}) {
    const auto t = random_toeplitz<double>(m, n, 1, random);
    const auto x = random.array<double, 1>({n});
    const ToeplitzPlan<double> plan(t.view());
    CHECK(plan.method() == toeplitz::Method::fourier);
    CHECK(plan.block_length() < 2 * std::min(m, n));
    const auto y = plan * x;
    for (const index_t i : {index_t{0}, m / 2, m - 1}) {
      double sum = 0, squares = 0;
      for (index_t j = 0; j < n; ++j) {
        sum += t.lags(0, i - j + n - 1) * x(j);
        squares += x(j) * x(j);
      }
      const double norm = std::sqrt(squares * double(m + n) / 3);
      CHECK(std::abs(y(i) - sum) <= 8 * std::log2(double(m + n)) * epsilon<double> * norm);
    }
  }
}

TEMPLATE_TEST_CASE("what is not finite reaches the rows that depend on it", "", double,
                   std::complex<float>) {
  using T = TestType;
  const index_t n = 5000, bad = 3100;
  Random random(6);
  auto t = random_toeplitz<T>(n, n - 7, 1, random);
  auto x = random.array<T, 2>({n - 7, 3});
  const auto expected = fourier(t) * x;
  for (const auto value : {INFINITY, NAN}) {
    auto damaged = t;
    damaged.lags(0, n - 8 + bad) = real_t<T>(value);
    const auto y = fourier(damaged) * x;
    for (index_t i = 0; i < n; ++i) {
      CHECK(std::isfinite(std::abs(y(i, 1))) == (i < bad));
      if (i < bad) CHECK(std::abs(y(i, 1) - expected(i, 1)) <= 100);
    }
    // The transpose: the columns 0, ..., n - 1 - bad.
    Array<T, 1> z({n - 7});
    apply_transpose(exec::cpu{}, fourier(damaged), random.array<T, 1>({n}), z);
    for (index_t j = 0; j < n - 7; ++j) CHECK(std::isfinite(std::abs(z(j))) == (j >= n - bad));
  }
  // A number of x reaches all rows, of its column.
  x(17, 1) = NAN;
  const auto y = fourier(t) * x;
  for (index_t i = 0; i < n; ++i) {
    CHECK(!std::isfinite(std::abs(y(i, 1))));
    CHECK(y(i, 0) == expected(i, 0));
    CHECK(y(i, 2) == expected(i, 2));
  }
}

TEST_CASE("infinities add up as in the sums of the definition") {
  const index_t n = 300;
  Random random(7);
  auto t = random_toeplitz<double>(n, n, 1, random);
  for (double& v : t.lags) v = std::abs(v);
  t.lags(0, n - 1 + 40) = 0;
  t.lags(0, 3) = -INFINITY;
  t.lags(0, 9) = INFINITY;
  t.lags(0, n + 100) = NAN;
  auto x = random.array<double, 1>({n});
  for (double& v : x) v = std::abs(v);
  const auto check = [&] {
    const auto sums = ToeplitzPlan<double>(t.view(), {.method = toeplitz::Method::direct}) * x;
    const auto y = fourier(t) * x;
    for (index_t i = 0; i < n; ++i) {
      INFO(i << ": " << sums(i) << ", " << y(i));
      CHECK(std::isnan(y(i)) == std::isnan(sums(i)));
      CHECK(std::isinf(y(i)) == std::isinf(sums(i)));
      if (std::isinf(y(i))) CHECK(y(i) == sums(i));
    }
  };
  check();
  x(4) = INFINITY;
  check();
  x(50) = -INFINITY;
  check();
}

TEST_CASE("numbers near the ends of the range") {
  const index_t n = 1000;
  Random random(8);
  auto t = random_toeplitz<double>(n, n, 1, random);
  auto x = random.array<double, 1>({n});
  const auto expected = fourier(t) * x;
  const auto scaled = [&](double lag_scale, double x_scale) {
    auto big = t;
    auto v = x;
    for (double& c : big.lags) c *= lag_scale;
    for (double& c : v) c *= x_scale;
    auto y = fourier(big) * v;
    for (double& c : y) c = c / x_scale / lag_scale;
    return y;
  };
  for (const auto& [lag_scale, x_scale] :
       std::initializer_list<std::array<double, 2>>{{0x1p1000, 0x1p-1000},
                                                    {0x1p-1010, 0x1p1010},
                                                    {0x1p1010, 1},
                                                    {1, 0x1p1012},
                                                    {0x1p500, 0x1p500},
                                                    {0x1p-500, 0x1p-400}}) {
    CHECK(same_bits(scaled(lag_scale, x_scale), expected));
  }
  // Batch entries and columns are scaled on their own.
  Array<double, 2> both({n, 2});
  for (index_t i = 0; i < n; ++i) {
    both(i, 0) = x(i) * 1e300;
    both(i, 1) = x(i) * 1e-200;
  }
  const auto y = fourier(t) * both;
  for (index_t i = 0; i < n; ++i) {
    CHECK(y(i, 0) == Approx(1e300 * expected(i)).margin(1e287));
    CHECK(y(i, 1) == Approx(1e-200 * expected(i)).margin(1e-213));
  }
}

TEST_CASE("plans are copied, and used from several threads") {
  Random random(9);
  const index_t n = 700;
  const auto t = random_toeplitz<double>(n, n, 1, random);
  const auto plan = fourier(t);
  const ToeplitzPlan<double> copy = plan;
  const auto x = random.array<double, 1>({n});
  const auto expected = plan * x;
  std::vector<Array<double, 1>> results(8);
  std::vector<std::thread> threads;
  for (auto& y : results) threads.emplace_back([&] { y = copy * x; });
  for (std::thread& thread : threads) thread.join();
  for (const auto& y : results) CHECK(same_bits(y, expected));
}
