// Covariances of Gaussian processes: every entry against the kernel's formula.
#include "structmat/quasiseparable/from_kernel.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/files.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::quasiseparable;
using test::message_of;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double smallest = std::numeric_limits<double>::min();

std::vector<Kernel> materns(double scale, double variance) {
  return {Kernel::exponential(scale, variance), Kernel::matern32(scale, variance),
          Kernel::matern52(scale, variance)};
}

/// One expression of every kind of term, and of sums and products of them.
std::vector<Kernel> expressions() {
  const Kernel sho = Kernel::sho(2, 3, 0.7), smooth = Kernel::matern52(1.7, 0.3);
  return {sho,
          Kernel::sho(0.8, 0.3, 0.7),
          Kernel::sho(0.8, 0.5, 0.7),
          Kernel::cosine(2.3, 0.4),
          Kernel::periodic(1.9, 0.8, 0.6, 3),
          Kernel::exponential(4) * Kernel::cosine(2.3, 0.4),
          smooth + sho,
          (smooth + sho) * Kernel::matern32(3),
          Kernel::exponential(9, 0.2) * Kernel::periodic(1.9, 1.2, 0.6, 2) + smooth * smooth};
}

std::vector<double> irregular_times(index_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> times;
  double t = -3;
  for (index_t i = 0; i < n; ++i) {
    times.push_back(t);
    t += 1e-3 + 2.0 * double(random() >> 11) * 0x1p-53;
  }
  return times;
}

/// All entries of a Matern covariance, relative to each, with the bound of the docstring.
void check_entries(const std::vector<double>& times, const Kernel& kernel, double noise) {
  const auto m = from_kernel(times, kernel, noise);
  const auto n = static_cast<index_t>(times.size());
  const auto dense = m.to_dense();
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const double lag = times[i] - times[j];
      const double exact = evaluate(kernel, lag) + (i == j ? noise : 0);
      const double s = std::sqrt(5.0) * std::abs(lag) / kernel.term_parameters()[0];
      const double bound = 8 * (double(std::abs(i - j)) + s + 1) * (1 + s) * (1 + s) * eps * exact;
      // Below the normal range, relative accuracy ends.
      worst = std::max(worst, std::abs(dense(0, i, j) - exact) / (bound + smallest));
    }
  }
  CHECK(worst <= 1);
}

}  // namespace

TEST_CASE("entries at irregular times") {
  for (const Kernel& kernel : materns(1.7, 0.3)) {
    for (const index_t n : {0, 1, 2, 3, 7, 60, 129}) {
      check_entries(irregular_times(n, 3), kernel, 0.25);
    }
  }
}

TEST_CASE("entries of expressions") {
  for (const Kernel& kernel : expressions()) {
    INFO(to_string(kernel));
    for (const index_t n : {0, 1, 2, 5, 67}) {
      const std::vector<double> times = irregular_times(n, 8);
      const auto m = from_kernel(times, kernel);
      CHECK(m.order() == Order{kernel.order(), kernel.order()});
      const auto dense = m.to_dense();
      double worst = 0;
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j < n; ++j) {
          const double lag = times[i] - times[j];
          // Phases up to 2 pi 3 lag / 1.9, and (1 + s)^2 with s = sqrt(5) lag / 1.7 where exp(-s)
          // does not outweigh it.
          const double bound = 64 * (1 + double(std::abs(i - j)) + 10 * std::abs(lag)) * eps;
          worst = std::max(worst, std::abs(dense(0, i, j) - evaluate(kernel, lag)) / bound);
        }
      }
      CHECK(worst <= 1);
    }
  }
}

TEST_CASE("one noise variance for each time") {
  const std::vector<double> times = irregular_times(5, 1), noise{0, 1, 2, 3, 4};
  const Kernel kernel = Kernel::matern32(1) + Kernel::cosine(2);
  const auto m = from_kernel(times, kernel, noise);
  for (index_t i = 0; i < 5; ++i) CHECK(m.d(0, i) == 2 + noise[i]);
  // A view in the opposite order.
  const auto back = from_kernel(times, kernel, View<const double, 1>(noise).reversed(0));
  for (index_t i = 0; i < 5; ++i) CHECK(back.d(0, i) == 6 - noise[i]);
}

TEST_CASE("gaps of a million neither overflow nor spoil what lies between them") {
  const double largest = std::numeric_limits<double>::max();
  for (const Kernel& unit : materns(1, 2)) check_entries({0, 1, 1000, 1001}, unit, 0);
  for (const Kernel& unit : materns(1, 2)) {
    check_entries({0, 0.5, 1e6, 1e6 + 0.5, 2e6, 2e6 + 1}, unit, 0.1);
  }
  for (const Kernel& wide : materns(1e6, 1)) check_entries({0, 1e6, 2e6, 3e6}, wide, 0);

  const std::vector<double> extreme{-largest, 0, 1e-300, 1, largest};
  std::vector<Kernel> narrow = materns(1e-300, 1);
  narrow.push_back(Kernel::sho(1e300, 0.1));
  narrow.push_back(Kernel::sho(1e300, 0.5));
  narrow.push_back(Kernel::exponential(1e-300) * Kernel::periodic(1e-300, 0.5));
  for (const Kernel& kernel : narrow) {
    INFO(to_string(kernel));
    const auto dense = from_kernel(extreme, kernel).to_dense();
    for (const double entry : dense) CHECK(std::isfinite(entry));
    CHECK(dense(0, 3, 4) == 0);
  }
}

TEST_CASE("known entries") {
  const std::vector<double> times{0, 1, 1000, 1001};
  const auto exponential = from_kernel(times, Kernel::exponential(1)).to_dense();
  CHECK(exponential(0, 1, 0) == Approx(std::exp(-1.0)).epsilon(1e-15));
  CHECK(exponential(0, 2, 3) == Approx(std::exp(-1.0)).epsilon(1e-15));
  CHECK(exponential(0, 2, 1) == 0);  // exp(-999) underflows
  const auto matern32 = from_kernel(times, Kernel::matern32(1)).to_dense();
  const double root = std::sqrt(3.0);
  CHECK(matern32(0, 3, 2) == Approx((1 + root) * std::exp(-root)).epsilon(1e-15));
}

TEST_CASE("row sums of a thousand regular times") {
  std::vector<double> times(1000), ones(1000, 1.0), sums(1000);
  for (index_t i = 0; i < 1000; ++i) times[i] = double(i);
  const auto m = from_kernel(times, Kernel::exponential(1));
  CHECK(m.order() == Order{1, 1});
  m.apply(ones, sums);
  CHECK(sums[500] == Approx(2.163953413738653).epsilon(1e-14));
}

TEST_CASE("a long series costs only its generators") {
  const index_t n = 100000;
  std::vector<double> times(n), ones(n, 1.0), sums(n);
  for (index_t i = 0; i < n; ++i) times[i] = 10.0 * double(i);
  const auto m = from_kernel(times, Kernel::matern52(1), 0.5);
  m.apply(ones, sums);
  for (index_t i = 1; i < n - 1; ++i) {
    if (std::abs(sums[i] - (1.5 + 2 * evaluate(Kernel::matern52(1), 10.0))) > 1e-12) {
      FAIL("row " << i << " sums to " << sums[i]);
    }
  }
}

TEST_CASE("gradients of all parameters and of the noise") {
  const index_t n = 23;
  const std::vector<double> times = irregular_times(n, 5);
  for (const Kernel& kernel : expressions()) {
    INFO(to_string(kernel));
    const index_t r = kernel.order();
    Quasiseparable<double, transition::Dense> bar(n, {r, r});
    test::Random random(2);
    for (auto* generator : {&bar.p, &bar.q, &bar.g, &bar.h}) random.fill(*generator);
    random.fill(bar.a);
    random.fill(bar.b);
    random.fill(bar.d);
    // <bar, generators>
    const auto loss = [&](const std::vector<double>& values, double noise) {
      const auto m = from_kernel(times, with_parameters(kernel, values), noise);
      double sum = 0;
      const auto add = [&](const auto& x, const auto& y) {
        for (index_t i = 0; i < x.size(); ++i) sum += x.data()[i] * y.data()[i];
      };
      add(m.p, bar.p);
      add(m.q, bar.q);
      add(m.a, bar.a);
      add(m.d, bar.d);
      add(m.g, bar.g);
      add(m.h, bar.h);
      add(m.b, bar.b);
      return sum;
    };
    const std::vector<double> at = parameters(kernel);
    const auto count = static_cast<index_t>(at.size());
    std::vector<double> gradient(count, 1.0), noise_bar(1, 1.0), each(n, 0.0);
    const QuasiseparableCotangent<double, transition::Dense> cotangent(bar);
    from_kernel_vjp(times, kernel, cotangent, gradient, noise_bar);
    for (index_t i = 0; i < count; ++i) {
      INFO("parameter " << i);
      const double h = 1e-5 * at[i];
      std::vector<double> up = at, down = at;
      up[i] += h;
      down[i] -= h;
      const double difference = (loss(up, 0.1) - loss(down, 0.1)) / (up[i] - down[i]);
      CHECK(gradient[i] - 1 == Approx(difference).epsilon(1e-7).margin(1e-7));
    }
    const double difference = (loss(at, 1.5) - loss(at, 0.5));
    CHECK(noise_bar[0] - 1 == Approx(difference).epsilon(1e-12).margin(1e-12));

    // Parts of the cotangent add up, and each noise has its own.
    std::vector<double> parts(count, 1.0);
    QuasiseparableCotangent<double, transition::Dense> lower, upper;
    lower.p = bar.p, lower.q = bar.q, lower.a = bar.a, lower.d = bar.d;
    upper.g = bar.g, upper.h = bar.h, upper.b = bar.b;
    from_kernel_vjp(times, kernel, lower, parts, each);
    from_kernel_vjp(times, kernel, upper, parts);
    for (index_t i = 0; i < count; ++i) {
      CHECK(parts[i] == Approx(gradient[i]).epsilon(1e-12).margin(1e-12));
    }
    for (index_t i = 0; i < n; ++i) CHECK(each[i] == bar.d(0, i));
  }
}

TEST_CASE("the gradient passes Q = 1/2 smoothly") {
  const std::vector<double> times{0, 0.5, 9, 900};
  std::vector<std::vector<double>> all;
  for (const double q : {0.5 - 1e-6, 0.5 - 1e-12, 0.5, 0.5 + 1e-12, 0.5 + 1e-6}) {
    Quasiseparable<double, transition::Dense> bar(4, {2, 2});
    for (double& v : bar.a) v = 1;
    for (double& v : bar.p) v = 1;
    all.emplace_back(3, 0.0);
    from_kernel_vjp(times, Kernel::sho(0.8, q), QuasiseparableCotangent(bar), all.back());
  }
  for (const auto& gradient : all) {
    for (index_t i = 0; i < 3; ++i) {
      CHECK(gradient[i] == Approx(all[2][i]).epsilon(1e-4).margin(1e-5));
    }
  }
}

TEST_CASE("refusals name the place") {
  const Kernel kernel = Kernel::matern32(1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double largest = std::numeric_limits<double>::max();
  const auto refused = [&](const std::vector<double>& times, double noise = 0) {
    return message_of<DomainError>([&] { from_kernel(times, kernel, noise); });
  };
  CHECK(refused({0, 1, 1}) ==
        "quasiseparable::from_kernel: time 2 is 1, time 1 is 1; times must increase strictly");
  CHECK_THAT(refused({0, 2, 1}), Catch::Contains("time 2 is 1, time 1 is 2"));
  CHECK_THAT(refused({0, nan, 1}), Catch::Contains("time 1 is nan, it must be finite"));
  CHECK_THAT(refused({nan}), Catch::Contains("time 0 is nan"));
  CHECK_THAT(refused({-largest, largest}), Catch::Contains("the gap must be finite"));
  CHECK_THAT(refused({0}, -1), Catch::Contains("the noise is -1"));
  CHECK_THAT(refused({0}, nan), Catch::Contains("the noise is nan"));

  const std::vector<double> times{0, 1, 2};
  CHECK(
      message_of<DomainError>([&] {
        from_kernel(times, kernel, std::vector<double>{0, 1, -1});
      }) ==
      "quasiseparable::from_kernel: the noise 2 is -1, it must be a variance: finite, at least 0");
  CHECK(message_of<ShapeError>([&] {
          from_kernel(times, kernel, std::vector<double>{0, 1});
        }) == "quasiseparable::from_kernel: 2 noise variances, there are 3 times");

  Quasiseparable<double, transition::Dense> bar(3, {2, 2}), other(3, {1, 1});
  std::vector<double> gradient(2), wrong(3), two(2);
  CHECK_THROWS_AS(from_kernel_vjp(times, kernel, QuasiseparableCotangent(other), gradient),
                  ShapeError);
  CHECK_THROWS_AS(from_kernel_vjp(times, kernel, QuasiseparableCotangent(bar), wrong), ShapeError);
  CHECK_THROWS_AS(from_kernel_vjp(times, kernel, QuasiseparableCotangent(bar), gradient, two),
                  ShapeError);
}
