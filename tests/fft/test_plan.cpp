#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>
#include <thread>

#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"
#include "structmat/fft/plan.hpp"

using namespace structmat;

namespace {

constexpr index_t sizes[] = {1, 2, 3, 7, 16, 127, 128, 129, 257};

template <class T>
Array<T, 2> random_matrix(index_t rows, index_t cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<real_t<T>> normal;
  Array<T, 2> a({rows, cols});
  for (T& x : a) {
    if constexpr (is_complex_v<T>) {
      x = {normal(generator), normal(generator)};
    } else {
      x = normal(generator);
    }
  }
  return a;
}

template <class T>
double norm(const Array<T, 2>& a) {
  double sum = 0;
  for (const T& x : a) sum += std::norm(std::complex<double>(x));
  return std::sqrt(sum);
}

template <class T>
double distance(const Array<T, 2>& a, const Array<T, 2>& b) {
  REQUIRE(a.extents() == b.extents());
  Array<T, 2> difference(a.extents());
  for (index_t i = 0; i < a.size(); ++i) difference.data()[i] = a.data()[i] - b.data()[i];
  return norm(difference);
}

/// c = 4 in ||error|| <= c log2(n) eps ||result||; n below 2 counts as 2.
template <class T>
double tolerance(index_t n) {
  return 4 * std::log2(static_cast<double>(std::max<index_t>(n, 2))) * epsilon<T>;
}

/// The definition, in long double. sign = -1 forward, +1 backward.
template <class T>
Array<std::complex<real_t<T>>, 2> definition(const Array<T, 2>& x, int sign, index_t columns) {
  const index_t n = x.extent(1);
  Array<std::complex<real_t<T>>, 2> y({x.extent(0), columns});
  for (index_t b = 0; b < x.extent(0); ++b) {
    for (index_t k = 0; k < columns; ++k) {
      std::complex<long double> sum = 0;
      for (index_t j = 0; j < n; ++j) {
        const long double angle =
            2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) / n;
        sum += std::complex<long double>(x(b, j)) * std::polar(1.0L, sign * angle);
      }
      y(b, k) = std::complex<real_t<T>>(sum);
    }
  }
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("fft::Plan agrees with the definition", "[fft]", float, double,
                   std::complex<float>, std::complex<double>) {
  using C = std::complex<real_t<TestType>>;
  const auto planning = GENERATE(fft::Planning::estimate, fft::Planning::measure);
  for (index_t n : sizes) {
    for (index_t batch : {1, 3}) {
      INFO("n " << n << ", batch " << batch);
      const fft::Plan<TestType> plan(n, {.batch = batch, .planning = planning});
      CHECK(plan.length() == n);
      CHECK(plan.batch() == batch);
      CHECK(plan.spectrum_length() == (is_complex_v<TestType> ? n : n / 2 + 1));

      const auto x = random_matrix<TestType>(batch, n, 1);
      const auto x_before = x;
      Array<C, 2> y({batch, plan.spectrum_length()});
      plan.forward(x, y);
      const auto expected = definition(x, -1, plan.spectrum_length());
      CHECK(distance(y, expected) <= tolerance<TestType>(n) * norm(expected));
      CHECK(distance(x, x_before) == 0);

      const auto y_before = y;
      Array<TestType, 2> back({batch, n});
      plan.backward(y, back);
      for (TestType& v : back) v /= static_cast<real_t<TestType>>(n);
      CHECK(distance(back, x) <= tolerance<TestType>(n) * norm(x));
      CHECK(distance(y, y_before) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("fft::Plan backward agrees with the definition", "[fft]", std::complex<float>,
                   std::complex<double>) {
  for (index_t n : sizes) {
    const fft::Plan<TestType> plan(n);
    const auto y = random_matrix<TestType>(1, n, 2);
    Array<TestType, 2> x({1, n});
    plan.backward(y, x);
    const auto expected = definition(y, +1, n);
    CHECK(distance(x, expected) <= tolerance<TestType>(n) * norm(expected));
  }
}

TEMPLATE_TEST_CASE("fft::Plan in place agrees with the definition", "[fft]", std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const bool planned : {false, true}) {
    for (const index_t n : sizes) {
      const auto x = random_matrix<T>(2, n, 5);
      const fft::Plan<T> plan(n, {.batch = 2, .in_place = planned});
      auto y = x;
      plan.forward(y.view());
      const auto forward = definition(x, -1, n);
      CHECK(distance(y, forward) <= tolerance<T>(n) * norm(forward));
      y = x;
      plan.backward(y.view());
      const auto backward = definition(x, 1, n);
      CHECK(distance(y, backward) <= tolerance<T>(n) * norm(backward));
    }
  }
  const fft::Plan<T> plan(4);
  Array<T, 2> x({1, 8});
  CHECK_THROWS_AS(plan.forward(x.view()), ShapeError);
  CHECK_THROWS_AS(plan.backward(View<T, 2>(x.data(), {1, 4}, {8, 2})), Unsupported);
}

TEMPLATE_TEST_CASE("fft::Plan takes sequences side by side", "[fft]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  using C = std::complex<real_t<T>>;
  constexpr index_t batch = 5;
  for (const index_t n : {1, 2, 7, 16, 129}) {
    const fft::Plan<T> rows(n, {.batch = batch});
    const fft::Plan<T> columns(n, {.batch = batch, .layout = fft::Layout::transposed});
    const Array<T, 2> x = random_matrix<T>(n, batch, 3);
    const Array<T, 2> x_rows = to_array(x.view().transposed());
    Array<C, 2> y({batch, rows.spectrum_length()}), expected(y.extents());
    columns.forward(x, y);
    rows.forward(x_rows, expected);
    const real_t<T> tolerance = 100 * epsilon<T> * static_cast<real_t<T>>(n);
    for (index_t i = 0; i < y.size(); ++i)
      CHECK(std::abs(y.data()[i] - expected.data()[i]) <= tolerance);
    Array<T, 2> back({n, batch});
    columns.backward(y, back);
    for (index_t i = 0; i < x.size(); ++i) {
      CHECK(std::abs(back.data()[i] / static_cast<real_t<T>>(n) - x.data()[i]) <= tolerance);
    }
    CHECK_THROWS_AS(columns.forward(x_rows, y), ShapeError);
    if constexpr (is_complex_v<T>) CHECK_THROWS_AS(columns.forward(back.view()), Unsupported);
  }
}

TEMPLATE_TEST_CASE("fft::Plan is linear and keeps the norm", "[fft]", float, double,
                   std::complex<float>, std::complex<double>) {
  using C = std::complex<real_t<TestType>>;
  for (index_t n : sizes) {
    INFO("n " << n);
    const fft::Plan<TestType> plan(n);
    const index_t m = plan.spectrum_length();
    const auto a = random_matrix<TestType>(1, n, 3), b = random_matrix<TestType>(1, n, 4);
    const TestType factor(2.5);
    Array<TestType, 2> sum({1, n});
    for (index_t j = 0; j < n; ++j) sum(0, j) = factor * a(0, j) + b(0, j);
    Array<C, 2> fa({1, m}), fb({1, m}), fsum({1, m}), combined({1, m});
    plan.forward(a, fa);
    plan.forward(b, fb);
    plan.forward(sum, fsum);
    for (index_t k = 0; k < m; ++k) combined(0, k) = C(2.5) * fa(0, k) + fb(0, k);
    CHECK(distance(fsum, combined) <= 2 * tolerance<TestType>(n) * (2.5 * norm(fa) + norm(fb)));

    double energy = 0;
    for (index_t k = 0; k < m; ++k) {
      const bool has_mirror = !is_complex_v<TestType> && k != 0 && 2 * k != n;
      energy += (has_mirror ? 2.0 : 1.0) * std::norm(std::complex<double>(fa(0, k)));
    }
    const double expected = norm(a) * norm(a) * static_cast<double>(n);
    CHECK(std::abs(energy - expected) <= 2 * tolerance<TestType>(n) * expected);
  }
}

TEMPLATE_TEST_CASE("fft::Plan of a real row is that of the complex row", "[fft]", float, double) {
  using C = std::complex<TestType>;
  for (index_t n : sizes) {
    const auto x = random_matrix<TestType>(2, n, 5);
    Array<C, 2> z({2, n}), whole({2, n}), half({2, n / 2 + 1}), first({2, n / 2 + 1});
    for (index_t i = 0; i < x.size(); ++i) z.data()[i] = x.data()[i];
    fft::Plan<TestType>(n, {.batch = 2}).forward(x, half);
    fft::Plan<C>(n, {.batch = 2}).forward(z, whole);
    copy(whole.view().slice(1, 0, n / 2 + 1), first.view());
    CHECK(distance(half, first) <= 2 * tolerance<TestType>(n) * norm(whole));
  }
}

TEMPLATE_TEST_CASE("fft::Plan serves memory at any alignment", "[fft]", float, double,
                   std::complex<float>, std::complex<double>) {
  using C = std::complex<real_t<TestType>>;
  for (index_t n : {16, 129, 1024}) {
    const fft::Plan<TestType> plan(n);
    const index_t m = plan.spectrum_length();
    const auto x = random_matrix<TestType>(1, n, 6);
    Array<C, 2> expected({1, m}), y({1, m + 1});
    Array<TestType, 2> shifted({1, n + 1}), back({1, n + 1});
    plan.forward(x, expected);
    const View<TestType, 2> odd_x(shifted.data() + 1, {1, n}), odd_back(back.data() + 1, {1, n});
    const View<C, 2> odd_y(y.data() + 1, {1, m});
    copy(x.view(), odd_x);
    plan.forward(odd_x, odd_y);
    CHECK(distance(to_array(odd_y), expected) <= tolerance<TestType>(n) * norm(expected));
    plan.backward(odd_y, odd_back);
    for (index_t j = 0; j < n; ++j) odd_back(0, j) /= static_cast<real_t<TestType>>(n);
    CHECK(distance(to_array(odd_back), x) <= tolerance<TestType>(n) * norm(x));
  }
}

TEST_CASE("fft::Plan is used by two threads at once", "[fft]") {
  constexpr index_t n = 360;
  const fft::Plan<double> plan(n, {.batch = 4});
  const index_t m = plan.spectrum_length();
  // Unaligned memory: both threads may be the first to need that plan.
  const auto work = [&](unsigned seed, bool& same) {
    const auto x = random_matrix<double>(4, n, seed);
    Array<std::complex<double>, 2> expected({4, m}), memory({1, 4 * m + 1});
    const View<std::complex<double>, 2> y(memory.data() + 1, {4, m});
    plan.forward(x, expected);
    same = true;
    for (int repeat = 0; repeat < 200; ++repeat) {
      plan.forward(x, y);
      same = same && distance(to_array(y), expected) <= tolerance<double>(n) * norm(expected);
      const fft::Plan<float> planned_meanwhile(repeat + 1);
    }
  };
  std::array<bool, 2> same{};
  std::thread first(work, 7u, std::ref(same[0])), second(work, 8u, std::ref(same[1]));
  first.join();
  second.join();
  CHECK(same[0]);
  CHECK(same[1]);
}

TEST_CASE("fft::Plan repeats bitwise", "[fft]") {
  const auto x = random_matrix<double>(1, 1000, 9);
  Array<std::complex<double>, 2> first({1, 501}), second({1, 501});
  fft::Plan<double>(1000).forward(x, first);
  fft::Plan<double>(1000).forward(x, second);
  CHECK(distance(first, second) == 0);
}

TEST_CASE("fft::Plan of nothing does nothing; a moved plan works", "[fft]") {
  const Array<double, 2> none({1, 0}), no_rows({0, 8});
  Array<std::complex<double>, 2> none_y({1, 0}), no_rows_y({0, 5});
  const fft::Plan<double> empty(0);
  CHECK(empty.spectrum_length() == 0);
  empty.forward(none, none_y);
  fft::Plan<double>(8, {.batch = 0}).forward(no_rows, no_rows_y);

  fft::Plan<double> plan(4);
  fft::Plan<double> moved = std::move(plan);
  Array<double, 2> x({1, 4});
  x(0, 0) = 1;
  Array<std::complex<double>, 2> y({1, 3});
  moved.forward(x, y);
  for (const auto& v : y) CHECK(v == 1.0);
}

TEST_CASE("fft::Plan refuses what does not fit", "[fft]") {
  using C = std::complex<double>;
  CHECK_THROWS_AS(fft::Plan<double>(-1), ShapeError);
  CHECK_THROWS_AS(fft::Plan<double>(4, {.batch = -1}), ShapeError);
  CHECK_THROWS_AS(fft::Plan<double>(index_t{1} << 62, {.batch = 4}), ShapeError);
  CHECK_THROWS_AS(fft::Plan<double>(std::numeric_limits<index_t>::max()), ShapeError);

  const fft::Plan<double> plan(8);
  Array<double, 2> x({1, 8});
  Array<C, 2> y({1, 5}), long_y({1, 8});
  CHECK_THROWS_MATCHES(
      plan.forward(x, long_y), ShapeError,
      Catch::Matchers::Message("fft::Plan::forward: y is (1, 8), the plan needs (1, 5)"));
  CHECK_THROWS_AS(plan.forward(Array<double, 2>({2, 8}), y), ShapeError);
  CHECK_THROWS_AS(plan.backward(long_y, x), ShapeError);
  CHECK_THROWS_AS(plan.backward(y, Array<double, 2>({1, 7})), ShapeError);

  CHECK_THROWS_AS(plan.forward(x.view().reversed(1), y), Unsupported);

  const fft::Plan<C> complex_plan(8);
  Array<C, 2> z({1, 8});
  CHECK_THROWS_AS(complex_plan.forward(z, z), DomainError);
}

TEST_CASE("fft::good_length is the next 7-smooth number", "[fft]") {
  const auto is_smooth = [](index_t n) {
    for (index_t p : {2, 3, 5, 7}) {
      while (n % p == 0) n /= p;
    }
    return n == 1;
  };
  CHECK(fft::good_length(0) == 1);
  index_t expected = 5000;
  while (!is_smooth(expected)) ++expected;
  for (index_t n = 5000; n >= 1; --n) {
    if (is_smooth(n)) expected = n;
    if (fft::good_length(n) != expected) FAIL("good_length(" << n << ") is not " << expected);
  }
  CHECK(fft::good_length(index_t{1} << 62) == index_t{1} << 62);
  CHECK(fft::good_length((index_t{1} << 62) - 1) <= index_t{1} << 62);
  CHECK_THROWS_AS(fft::good_length(-1), ShapeError);
  CHECK_THROWS_AS(fft::good_length((index_t{1} << 62) + 1), ShapeError);
}

TEST_CASE("fft::backend names itself and its licence", "[fft]") {
  CHECK_THAT(fft::backend().name, Catch::Matchers::StartsWith("FFTW 3."));
  CHECK(fft::backend().licence == "GPL-2.0-or-later");
}
