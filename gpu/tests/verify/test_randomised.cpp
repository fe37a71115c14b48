// The randomised check on the device: its verdicts, its bounds, its errors.
#include "structmat/verify/randomised.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/gpu.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;
using verify::Verdict;

namespace {

template <class T>
Array<T, 2> random_matrix(index_t n, Order r, unsigned seed) {
  return to_array(
      random_quasiseparable<T, transition::Diagonal>(n, r, 1, seed).to_dense().view().select(0, 0));
}

template <class T>
auto randomised(const Array<T, 2>& m, const verify::RandomisedOptions& options) {
  return verify::randomised(exec::cuda{}, to_device(m), options);
}

/// A matrix of lower order 2 whose middle block has in addition the singular value `size`.
Array<double, 2> planted(index_t n, double size) {
  const index_t half = n / 2;
  constexpr double pi = 3.141592653589793;
  const auto wave = [&](double f, index_t at) {
    return 2 / std::sqrt(double(n)) * std::cos(f * pi * (double(at) + 0.5) / double(half));
  };
  return matrix<double>(n, n, [&](index_t i, index_t j) {
    if (i < half || j >= half) return 0.0;
    return wave(1, i - half) * wave(1, j) + 0.1 * wave(2, i - half) * wave(2, j) +
           size * wave(3, i - half) * wave(3, j);
  });
}

bool same(const verify::RandomisedReport& a, const verify::RandomisedReport& b) {
  const bool worst = a.worst.has_value() == b.worst.has_value() &&
                     (!a.worst || (a.worst->k == b.worst->k && a.worst->part == b.worst->part &&
                                   a.worst->compressed == b.worst->compressed &&
                                   a.worst->lower_bound == b.worst->lower_bound));
  return worst && a.verdict == b.verdict && a.detectable == b.detectable &&
         a.tolerance == b.tolerance && a.frobenius_norm == b.frobenius_norm;
}

}  // namespace

TEMPLATE_TEST_CASE("on the device, matrices of the order hold, of a larger one do not",
                   "[verify_randomised]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  // So many that also float leaves room between rounding and the weakest singular value here.
  constexpr index_t probes = 40;
  for (const index_t n : {20, quick() ? 0 : 300, quick() ? 0 : 1030}) {
    if (n == 0) continue;
    for (const Order r : {Order{1, 1}, Order{3, 0}}) {
      if (quick() && r.lower == 3) continue;
      INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
      const Array<T, 2> m = random_matrix<T>(n, r, unsigned(n));
      const verify::RandomisedOptions options{.order = r, .oversampling = probes};
      const auto report = randomised(m, options);
      const auto expected = verify::randomised(m, options);
      CHECK(report.verdict == Verdict::holds);
      CHECK(report.detectable <= report.tolerance);
      CHECK(report.failure_probability == expected.failure_probability);
      CHECK(report.tolerance == expected.tolerance);
      CHECK(report.probes == expected.probes);
      CHECK(report.frobenius_norm == Approx(expected.frobenius_norm));
      REQUIRE(report.worst);

      for (const bool lower : {true, false}) {
        Order less = r;
        index_t& part = lower ? less.lower : less.upper;
        if (part == 0) continue;
        --part;
        const auto violated = randomised(m, {.order = less, .oversampling = probes});
        CHECK(violated.verdict == Verdict::violated);
        REQUIRE(violated.worst);
        CHECK(violated.worst->part == (lower ? verify::Part::lower : verify::Part::upper));

        // Anybody can check the bound: it lies below the singular value of the block, and near it.
        const index_t k = violated.worst->k;
        const auto block =
            lower ? m.view().slice(0, k, n).slice(1, 0, k) : m.view().slice(0, 0, k).slice(1, k, n);
        Array<real_t<T>, 1> values({std::min(k, n - k)});
        dense::singular_values<T>(block, values);
        const double sigma = double(values(part)) / violated.frobenius_norm;
        CHECK(violated.worst->lower_bound <= sigma * (1 + 100 * double(epsilon<T>)));
        CHECK(violated.worst->lower_bound >= sigma / 4 - 2 * double(n) * double(epsilon<T>));
        CHECK(violated.worst->lower_bound > violated.tolerance);
      }
    }
  }
}

TEST_CASE("what is planted in one block of several panels is found", "[verify_randomised]") {
  // More than one panel of 256 rows, the last one ragged; both parts; either order in memory.
  const index_t n = quick() ? 300 : 900;
  const index_t oversampling = quick() ? 10 : 20;
  for (const bool lower : {true, false}) {
    const Array<double, 2> at_bottom = planted(n, 1e-4);
    const Array<double, 2> m = lower ? at_bottom : to_array(at_bottom.view().transposed());
    const auto there = to_device(m), turned = to_device(to_array(m.view().transposed()));
    const verify::RandomisedOptions options{.order = lower ? Order{2, 0} : Order{0, 2},
                                            .tolerance = 1e-6,
                                            .oversampling = oversampling};
    for (const auto& a : {there.view(), turned.view().transposed()}) {
      if (quick() && (a.stride(1) == 1) != lower) continue;
      const auto report = verify::randomised<double>(exec::cuda{}, a, options);
      CHECK(report.verdict == Verdict::violated);
      REQUIRE(report.worst);
      CHECK(report.worst->part == (lower ? verify::Part::lower : verify::Part::upper));
      // sigma_3 of the largest block is 1e-4 beside a norm of about 1.
      const index_t k = report.worst->k;
      Array<double, 1> values({std::min(k, n - k)});
      dense::singular_values<double>(at_bottom.view().slice(0, k, n).slice(1, 0, k), values);
      CHECK(report.worst->lower_bound < values(2));
      CHECK(report.worst->lower_bound > values(2) / 8);
      CHECK(report.detectable > 1e-4);
    }
    if (quick() && !lower) continue;
    auto enough = options;
    enough.order = lower ? Order{3, 0} : Order{0, 3};
    const auto report = verify::randomised<double>(exec::cuda{}, there, enough);
    CHECK(report.verdict == Verdict::holds);
    CHECK(report.detectable < 1e-9);
  }
}

TEMPLATE_TEST_CASE("any number of probes", "[verify_randomised]", float, double,
                   std::complex<float>, std::complex<double>) {
  // Compressions whose tiles differ in size, in registers and beyond; more probes than rows.
  using T = TestType;
  const index_t n = quick() ? 16 : 40;
  const Order r{2, 1};
  const Array<T, 2> m = random_matrix<T>(n, r, 6);
  for (const index_t oversampling : {12, 70, 100, 150}) {
    if (quick() && (oversampling == 150) != std::is_same_v<T, float>) continue;
    INFO("oversampling " << oversampling);
    const auto holds = randomised(m, {.order = r, .oversampling = oversampling});
    CHECK(holds.verdict == Verdict::holds);
    CHECK(holds.drift > 0);
    CHECK(holds.drift < 4 * double(holds.probes) * double(epsilon<T>));
    // Rotations of large matrices take long without a device.
    if (quick() && oversampling > 12) continue;
    const auto violated = randomised(m, {.order = {1, 1}, .oversampling = oversampling});
    CHECK(violated.verdict == Verdict::violated);
  }
}

TEST_CASE("verdicts on either side of their thresholds", "[verify_randomised]") {
  const index_t n = quick() ? 40 : 120, half = n / 2;
  const double size = 1e-4;
  const Array<double, 2> m = planted(n, size);
  Array<double, 1> values({half});
  dense::singular_values<double>(m.view().slice(0, half, n).slice(1, 0, half), values);
  for (const unsigned seed : {1u, 2u, 3u}) {
    if (quick() && seed > 1) continue;
    const auto with = [&](double tolerance) {
      return randomised(m, {.order = {2, 0}, .tolerance = tolerance, .seed = seed});
    };
    // The bounds alone, then with singular values in the place of those that are too large.
    const auto loose = with(1);
    const double sigma = values(2) / loose.frobenius_norm;
    CHECK(loose.verdict == Verdict::holds);
    CHECK(loose.detectable > sigma);
    CHECK(with(loose.detectable * (1 + 1e-9)).verdict == Verdict::holds);
    const auto refined = with(loose.detectable * (1 - 1e-9));
    CHECK(refined.verdict == Verdict::holds);
    CHECK(refined.detectable < loose.detectable);
    CHECK(refined.detectable > sigma);

    // Certain below the lower bound of the block; never said above the singular value.
    const auto violated = with(sigma / 100);
    REQUIRE(violated.worst);
    CHECK(violated.verdict == Verdict::violated);
    CHECK(violated.worst->lower_bound <= sigma);
    CHECK(with(violated.worst->lower_bound * (1 - 1e-9)).verdict == Verdict::violated);
    const auto undecided = with(sigma * (1 + 1e-9));
    CHECK(undecided.verdict == Verdict::undecided);
    CHECK(undecided.detectable > undecided.tolerance);
  }
}

TEST_CASE("compressions bound the norm when the order is 0", "[verify_randomised]") {
  // With order 0, the bound at k is ||M_k||_F itself, whose expectation is s ||H_k||_F^2 s.
  const index_t n = 60, s = 21;
  const Array<double, 2> m = random_matrix<double>(n, {2, 0}, 5);
  const auto report = randomised(m, {.order = {0, 0}, .tolerance = 1e3, .oversampling = s - 1});
  CHECK(report.verdict == Verdict::holds);
  REQUIRE(report.worst);
  const index_t k = report.worst->k;
  const auto block = to_array(m.view().slice(0, k, n).slice(1, 0, k));
  const double norm = dense::frobenius_norm<double>(block.view()) / report.frobenius_norm;
  CHECK(report.worst->compressed > 0.5 * double(s) * norm);
  CHECK(report.worst->compressed < 2 * double(s) * norm);
}

TEST_CASE("the check on the device repeats, and small matrices need no probes",
          "[verify_randomised]") {
  const Array<double, 2> m = random_matrix<double>(60, {2, 2}, 8);
  const verify::RandomisedOptions options{.order = {1, 2}};
  const auto report = randomised(m, options);
  CHECK(same(report, randomised(m, options)));
  auto other = options;
  other.seed = 2;
  CHECK_FALSE(same(report, randomised(m, other)));

  for (const index_t n : {0, 1}) {
    const auto none = randomised(Array<double, 2>({n, n}), options);
    CHECK(none.verdict == Verdict::holds);
    CHECK(none.failure_probability == 0);
  }
  const auto zero = randomised(Array<double, 2>({30, 30}), {.order = {0, 0}});
  CHECK(zero.verdict == Verdict::holds);
  CHECK(zero.frobenius_norm == 0);
}

TEST_CASE("what the check on the device refuses", "[verify_randomised]") {
  Array<double, 2> m({30, 30});
  CHECK_THROWS_AS(randomised(Array<double, 2>({3, 4}), {}), ShapeError);
  CHECK_THROWS_AS(randomised(m, {.order = {-1, 0}}), DomainError);
  CHECK_THROWS_AS(randomised(m, {.tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(randomised(m, {.relative = verify::Relative::block}), Unsupported);
  const auto there = to_device(m);
  const View<const double, 2, space::cuda> gaps(there.data(), {15, 15}, {60, 2});
  CHECK_THROWS_AS(verify::randomised<double>(exec::cuda{}, gaps, {}), Unsupported);
  m(4, 5) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(randomised(m, {}), DomainError);
  CHECK_THROWS_AS(randomised(Array<float, 2>({2, 2}), {.failure_probability = 2}), DomainError);
}
