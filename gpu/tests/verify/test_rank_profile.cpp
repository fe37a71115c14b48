// Rank profiles on the device against those of the CPU.
#include "structmat/verify/rank_profile.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/gpu.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
Array<T, 2> of_order(index_t n, Order r, unsigned seed) {
  return to_array(
      random_quasiseparable<T, transition::Diagonal>(n, r, 1, seed).to_dense().view().select(0, 0));
}

void check_same(const verify::Report& found, const verify::Report& expected, double error) {
  CHECK(found.property == expected.property);
  CHECK(found.size == expected.size);
  CHECK(found.holds == expected.holds);
  CHECK(found.order == expected.order);
  CHECK(found.tolerance == expected.tolerance);
  CHECK(found.frobenius_norm == Approx(expected.frobenius_norm));
  CHECK(std::abs(found.smallest_kept - expected.smallest_kept) <= error);
  CHECK(std::abs(found.largest_dropped - expected.largest_dropped) <= error);
  CHECK(found.blocks.size() == expected.blocks.size());
  for (std::size_t i = 0; i < std::min(found.blocks.size(), expected.blocks.size()); ++i) {
    const verify::Block &a = found.blocks[i], &b = expected.blocks[i];
    CHECK(a.part == b.part);
    CHECK(a.row_begin == b.row_begin);
    CHECK(a.col_end == b.col_end);
    for (std::size_t l = 0; l < std::min(a.singular_values.size(), b.singular_values.size()); ++l) {
      CHECK(std::abs(a.singular_values[l] - b.singular_values[l]) <= error);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("profiles on the device are those of the CPU", "[verify_rank_profile]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, quick() ? 21 : 70, quick() ? 0 : 400}) {
    for (const Order r : {Order{0, 0}, Order{1, 3}}) {
      const Array<T, 2> m = of_order<T>(n, r, unsigned(n));
      // Between noise and the singular values that count.
      const double error = 10 * double(n + 1) * double(epsilon<T>);
      const verify::Options options{.tolerance = 10 * error, .blocks = {n / 2, 3}};
      INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
      const auto found = verify::quasiseparable(exec::cuda{}, to_device(m), options);
      const auto expected = verify::quasiseparable(m, options);
      check_same(found, expected, error);
      CHECK(found.complete);
      CHECK(found.lower == expected.lower);
      CHECK(found.upper == expected.upper);
    }
  }
}

TEST_CASE("blocks that contain the diagonal, and triangular matrices", "[verify_rank_profile]") {
  const index_t n = quick() ? 20 : 150;
  const Array<double, 2> full = of_order<double>(n, {2, 1}, 3);
  Array<double, 2> lower = full, upper = full;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      if (j > i) lower(i, j) = 0;
      if (j < i) upper(i, j) = 0;
    }
  }
  for (const Array<double, 2>* m : {&full, &std::as_const(lower), &std::as_const(upper)}) {
    const auto found = verify::semiseparable(exec::cuda{}, to_device(*m));
    const auto expected = verify::semiseparable(*m);
    check_same(found, expected, 1e-13);
    CHECK(found.lower == expected.lower);
    CHECK(found.upper == expected.upper);
  }
}

TEST_CASE("verdicts, early stops and progress on the device", "[verify_rank_profile]") {
  const index_t n = quick() ? 40 : 200;
  const Array<double, 2> m = of_order<double>(n, {2, 3}, 9);
  const auto there = to_device(m);
  CHECK(verify::quasiseparable(exec::cuda{}, there, {.order = Order{2, 3}}).holds);
  double done = 0;
  const auto violated = verify::quasiseparable(
      exec::cuda{}, there, {.order = Order{2, 2}, .progress = [&](double f) { done = f; }});
  CHECK_FALSE(violated.holds);
  CHECK_FALSE(violated.complete);
  CHECK(done < 1);
  REQUIRE(violated.worst_block);
  CHECK(violated.worst_block->part == verify::Part::upper);
  CHECK(violated.worst_block->singular_values.size() >= 3);
  CHECK(violated.worst_block->singular_values[2] > violated.tolerance);
  const auto transposed = verify::quasiseparable<double>(
      exec::cuda{}, there.view().transposed(), {.order = Order{3, 2}, .stop_at_violation = false});
  CHECK(transposed.holds);
  CHECK(transposed.complete);
}

TEST_CASE("Hilbert matrices and zeros on the device", "[verify_rank_profile]") {
  const index_t n = quick() ? 16 : 60;
  const auto hilbert =
      matrix<double>(n, n, [](index_t i, index_t j) { return 1 / double(i + j + 1); });
  for (const double tolerance : {1e-12, 1e-6}) {
    const auto found =
        verify::quasiseparable(exec::cuda{}, to_device(hilbert), {.tolerance = tolerance});
    const auto expected = verify::quasiseparable(hilbert, {.tolerance = tolerance});
    CHECK(found.lower == expected.lower);
    CHECK(found.upper == expected.upper);
  }
  CHECK(verify::quasiseparable(exec::cuda{}, to_device(Array<double, 2>({9, 9}))).order ==
        Order{0, 0});
}

TEST_CASE("what profiles on the device refuse", "[verify_rank_profile]") {
  Array<double, 2> m({8, 8});
  const auto profile = [](const Array<double, 2>& a, const verify::Options& options = {}) {
    return verify::quasiseparable(exec::cuda{}, to_device(a), options);
  };
  CHECK_THROWS_AS(profile(Array<double, 2>({3, 4})), ShapeError);
  CHECK_THROWS_AS(profile(m, {.order = Order{-1, 0}}), DomainError);
  CHECK_THROWS_AS(profile(m, {.tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(profile(m, {.relative = verify::Relative::block}), Unsupported);
  m(4, 5) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(profile(m), DomainError);
}
