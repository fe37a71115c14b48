// Covariances of Gaussian processes: every entry against the kernel's formula.
#include "structmat/quasiseparable/from_kernel.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/files.hpp"

using namespace structmat;
using namespace structmat::quasiseparable;
using Family = Kernel::Family;
using test::message_of;

namespace {

constexpr Family all_families[] = {Family::exponential, Family::matern32, Family::matern52};
constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double smallest = std::numeric_limits<double>::min();

double rate(Family family) {
  return family == Family::exponential ? 1
         : family == Family::matern32  ? std::sqrt(3)
                                       : std::sqrt(5);
}

/// The textbook formula in long double.
double formula(const Kernel& k, double lag) {
  const long double r = std::abs(static_cast<long double>(lag)) / k.scale;
  if (k.family == Family::exponential) return static_cast<double>(k.variance * std::exp(-r));
  const long double s = r * std::sqrt(k.family == Family::matern32 ? 3.0L : 5.0L);
  const long double polynomial = k.family == Family::matern32 ? 1 + s : 1 + s + 5 * r * r / 3;
  return static_cast<double>(k.variance * polynomial * std::exp(-s));
}

/// All entries, relative to each, with the bound of the docstring.
void check_entries(const std::vector<double>& times, const Kernel& kernel, double noise) {
  const auto m = from_kernel(times, kernel, noise);
  const auto n = static_cast<index_t>(times.size());
  const auto dense = m.to_dense();
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const double lag = times[i] - times[j];
      const double exact = formula(kernel, lag) + (i == j ? noise : 0);
      const double s = std::abs(lag) * rate(kernel.family) / kernel.scale;
      const double bound = 8 * (double(std::abs(i - j)) + s + 1) * (1 + s) * (1 + s) * eps * exact;
      // Below the normal range, relative accuracy ends.
      worst = std::max(worst, std::abs(dense(0, i, j) - exact) / (bound + smallest));
    }
  }
  CHECK(worst <= 1);
}

}  // namespace

TEST_CASE("evaluate is the formula") {
  for (Family family : all_families) {
    for (double scale : {0.25, 1.0, 40.0}) {
      const Kernel kernel{family, scale, 2.5};
      CHECK(evaluate(kernel, 0) == 2.5);
      for (double lag : {1e-9, 0.3, 1.0, 17.0}) {
        const double s = lag * rate(family) / scale;
        CHECK(std::abs(evaluate(kernel, lag) - formula(kernel, lag)) <=
              4 * (1 + s) * eps * formula(kernel, lag));
        CHECK(evaluate(kernel, -lag) == evaluate(kernel, lag));
      }
      CHECK(evaluate(kernel, 1e300) == 0);
    }
  }
}

TEST_CASE("entries at irregular times") {
  std::mt19937_64 random(3);
  for (Family family : all_families) {
    for (index_t n : {0, 1, 2, 3, 7, 60, 129}) {
      std::vector<double> times;
      double t = -3;
      for (index_t i = 0; i < n; ++i) {
        times.push_back(t);
        t += 1e-3 + 2.0 * double(random() >> 11) * 0x1p-53;
      }
      check_entries(times, {family, 1.7, 0.3}, 0.25);
    }
  }
}

TEST_CASE("gaps of a million neither overflow nor spoil what lies between them") {
  const double largest = std::numeric_limits<double>::max();
  for (Family family : all_families) {
    check_entries({0, 1, 1000, 1001}, {family, 1, 1}, 0);
    check_entries({0, 0.5, 1e6, 1e6 + 0.5, 2e6, 2e6 + 1}, {family, 1, 2}, 0.1);
    check_entries({0, 1e6, 2e6, 3e6}, {family, 1e6, 1}, 0);

    const std::vector<double> extreme{-largest, 0, 1e-300, 1, largest};
    const auto dense = from_kernel(extreme, {family, 1e-300, 1}).to_dense();
    for (double entry : dense) CHECK(std::isfinite(entry));
    CHECK(dense(0, 3, 4) == 0);
  }
}

TEST_CASE("known entries") {
  const std::vector<double> times{0, 1, 1000, 1001};
  const auto exponential = from_kernel(times, {Family::exponential, 1, 1}).to_dense();
  CHECK(exponential(0, 1, 0) == Approx(std::exp(-1.0)).epsilon(1e-15));
  CHECK(exponential(0, 2, 3) == Approx(std::exp(-1.0)).epsilon(1e-15));
  CHECK(exponential(0, 2, 1) == 0);  // exp(-999) underflows
  const auto matern32 = from_kernel(times, {Family::matern32, 1, 1}).to_dense();
  const double root = std::sqrt(3.0);
  CHECK(matern32(0, 3, 2) == Approx((1 + root) * std::exp(-root)).epsilon(1e-15));
}

TEST_CASE("row sums of a thousand regular times") {
  std::vector<double> times(1000), ones(1000, 1.0), sums(1000);
  for (index_t i = 0; i < 1000; ++i) times[i] = double(i);
  const auto m = from_kernel(times, {Family::exponential, 1, 1});
  CHECK(m.order() == Order{1, 1});
  m.apply(ones, sums);
  CHECK(sums[500] == Approx(2.163953413738653).epsilon(1e-14));
}

TEST_CASE("a long series costs only its generators") {
  const index_t n = 100000;
  std::vector<double> times(n), ones(n, 1.0), sums(n);
  for (index_t i = 0; i < n; ++i) times[i] = 10.0 * double(i);
  const auto m = from_kernel(times, {Family::matern52, 1, 1}, 0.5);
  m.apply(ones, sums);
  for (index_t i = 1; i < n - 1; ++i) {
    if (std::abs(sums[i] - (1.5 + 2 * evaluate({Family::matern52, 1, 1}, 10.0))) > 1e-12) {
      FAIL("row " << i << " sums to " << sums[i]);
    }
  }
}

TEST_CASE("kernels as text") {
  const Kernel a = parse_kernel("matern32:scale=1,variance=1");
  CHECK((a.family == Family::matern32 && a.scale == 1 && a.variance == 1));
  const Kernel b = parse_kernel("matern52:variance=2.5,scale=1e-3");
  CHECK((b.family == Family::matern52 && b.scale == 1e-3 && b.variance == 2.5));
  const Kernel c = parse_kernel("exponential");
  CHECK((c.family == Family::exponential && c.scale == 1 && c.variance == 1));
  CHECK(parse_kernel("matern12:scale=3").family == Family::exponential);

  const auto refused = [](const char* text) {
    return message_of<DomainError>([&] { parse_kernel(text); });
  };
  CHECK(refused("rbf:scale=1") ==
        "quasiseparable::parse_kernel: \"rbf:scale=1\": the kernel is unknown; known are "
        "exponential, matern12, matern32, matern52");
  CHECK_THAT(refused("matern32:length=1"),
             Catch::Contains("\"length=1\" is unknown") && Catch::Contains("scale=NUMBER"));
  CHECK_THAT(refused("matern32:scale"), Catch::Contains("\"scale\" is unknown"));
  CHECK_THAT(refused("matern32:"), Catch::Contains("\"\" is unknown"));
  CHECK_THAT(refused("matern32:scale=1,"), Catch::Contains("\"\" is unknown"));
  CHECK_THAT(refused("matern32:scale=1,scale=1"), Catch::Contains("given twice"));
  for (const char* value : {"", "0", "-1", "nan", "inf", "1x", "1e999"}) {
    CHECK_THAT(refused(("matern32:scale=" + std::string(value)).c_str()),
               Catch::Contains("must be a positive number"));
  }
}

TEST_CASE("refusals name the place") {
  const Kernel kernel{};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](std::vector<double> times, const Kernel& k = {}, double noise = 0) {
    return message_of<DomainError>([&] { from_kernel(times, k, noise); });
  };
  CHECK(refused({0, 1, 1}) ==
        "quasiseparable::from_kernel: time 2 is 1, time 1 is 1; times must increase strictly");
  CHECK_THAT(refused({0, 2, 1}), Catch::Contains("time 2 is 1, time 1 is 2"));
  CHECK_THAT(refused({0, nan, 1}), Catch::Contains("time 1 is nan, it must be finite"));
  CHECK_THAT(refused({nan}), Catch::Contains("time 0 is nan"));
  CHECK_THAT(refused({0}, kernel, -1), Catch::Contains("the noise is -1"));
  CHECK_THAT(refused({0}, kernel, nan), Catch::Contains("the noise is nan"));
  CHECK_THAT(refused({0}, {Family::matern32, 0, 1}), Catch::Contains("the scale"));
  CHECK_THAT(refused({0}, {Family::matern32, 1, nan}), Catch::Contains("the variance"));
  CHECK_THROWS_AS(evaluate({Family::matern32, 1, -1}, 0), DomainError);
  CHECK_THROWS_AS(evaluate(kernel, nan), DomainError);
}
