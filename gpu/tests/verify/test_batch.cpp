// Verification of batches on a device: the reports are those of the host.
#include "structmat/verify/batch.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/device.hpp"
#include "structmat/core/error.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/gpu.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// What mixers with scalar or diagonal transitions make: quasiseparable of known order.
template <class T>
Array<T, 3> mixers(index_t batch, index_t n, Order order, unsigned seed) {
  const auto m = random_quasiseparable<T, transition::Diagonal>(n, order, batch, seed);
  Array<T, 3> dense({batch, n, n});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) dense(b, i, j) = entry(m.view(), i, j, b);
    }
  }
  return dense;
}

void compare(const verify::Report& found, const verify::Report& expected) {
  CHECK(found.property == expected.property);
  CHECK(found.size == expected.size);
  CHECK(found.asked == expected.asked);
  CHECK(found.holds == expected.holds);
  // Steps differ: after a violation one of the two may have reached the end already.
  if (expected.holds) CHECK(found.complete == expected.complete);
  const bool both_complete = found.complete && expected.complete;
  CHECK(found.tolerance == expected.tolerance);
  CHECK(found.relative == expected.relative);
  CHECK(found.frobenius_norm == Approx(expected.frobenius_norm).epsilon(1e-6));
  // Either may drop an eighth of the tolerance.
  const double slack = found.tolerance / 4;
  if (both_complete) {
    CHECK(found.order == expected.order);
    CHECK(found.lower == expected.lower);
    CHECK(found.upper == expected.upper);
    CHECK(found.smallest_kept == Approx(expected.smallest_kept).margin(slack));
    CHECK(found.largest_dropped == Approx(expected.largest_dropped).margin(slack));
  }
  REQUIRE(found.worst_block.has_value() == expected.worst_block.has_value());
  if (found.worst_block && both_complete && expected.asked && !expected.holds) {
    const auto &a = *found.worst_block, &b = *expected.worst_block;
    CHECK(a.part == b.part);
    REQUIRE(!a.singular_values.empty());
    for (std::size_t l = 0; l < std::min(a.singular_values.size(), b.singular_values.size()); ++l) {
      CHECK(a.singular_values[l] == Approx(b.singular_values[l]).margin(slack));
    }
  }
}

template <class T>
void compare(const Array<T, 3>& m, const verify::Options& options) {
  const auto there = to_device(m);
  const auto quasi = verify::quasiseparable<T>(exec::cuda{}, there, options);
  const auto semi = verify::semiseparable<T>(exec::cuda{}, there, options);
  REQUIRE(index_t(quasi.matrices.size()) == m.extent(0));
  for (index_t b = 0; b < m.extent(0); ++b) {
    CAPTURE(b);
    compare(quasi.matrices[b], verify::quasiseparable<T>(m.view().select(0, b), options));
    compare(semi.matrices[b], verify::semiseparable<T>(m.view().select(0, b), options));
  }
}

verify::Options asking(Order order) {
  verify::Options options;
  options.order = order;
  return options;
}

}  // namespace

TEMPLATE_TEST_CASE("profiles of a batch are those of the host", "[verify_batch]", float, double,
                   std::complex<float>, std::complex<double>) {
  const index_t n = quick() ? 34 : 130;
  compare(mixers<TestType>(quick() ? 1 : 2, n, {3, 2}, 1), {});
  compare(mixers<TestType>(1, n, {3, 2}, 2), asking({3, 2}));
  if (quick()) return;
  compare(mixers<TestType>(1, n, {4, 2}, 3), asking({3, 5}));
  auto options = asking({1, 1});
  options.stop_at_violation = false;
  compare(mixers<TestType>(1, n, {2, 3}, 4), options);
}

TEST_CASE("a spoiled entry is found, in the matrix that has it", "[verify_batch]") {
  const index_t n = quick() ? 36 : 256, batch = quick() ? 3 : 32, bad = batch - 2;
  auto m = mixers<double>(batch, n, {4, 4}, 7);
  m(bad, n - 5, 7) += 1e-3;
  const auto there = to_device(m);
  const auto report = verify::quasiseparable<double>(exec::cuda{}, there, asking({4, 4}));
  CHECK_FALSE(report.all_hold());
  CHECK(report.violating() == std::vector<index_t>{bad});
  const auto& r = report.matrices[bad];
  REQUIRE(r.worst_block);
  CHECK(r.worst_block->part == verify::Part::lower);
  // The entry lies in the block.
  CHECK(r.worst_block->row_begin <= n - 5);
  CHECK(r.worst_block->col_end > 7);
  CHECK(r.worst_block->singular_values[4] > r.tolerance);
  // The first block of the profile that is too large is the one that the entry enters.
  const auto first = std::find_if(r.lower.begin(), r.lower.end(), [](index_t k) { return k > 4; });
  REQUIRE(first != r.lower.end());
  CHECK(first - r.lower.begin() + 1 >= 8);
  const auto good = verify::quasiseparable<double>(exec::cuda{}, there, asking({5, 4}));
  CHECK(good.all_hold());
}

TEST_CASE("orders without structure outgrow the first state", "[verify_batch]") {
  // Below orders of 64, from where on the host leaves out blocks whose rank is settled.
  const index_t n = quick() ? 24 : 120;
  Random random(3);
  auto options = asking({1, 1});
  options.stop_at_violation = false;
  compare(random.array<double, 3>({1, n, n}), options);
  compare(random.array<double, 3>({1, n, n}), asking({2, 2}));
}

TEST_CASE("special matrices", "[verify_batch]") {
  const index_t n = quick() ? 14 : 40;
  Array<double, 3> m({6, n, n});
  const auto lower = random_semiseparable<double, transition::Scalar>(n, 3, 1, 5);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      m(1, i, j) = 1 / double(i + j + 1);
      m(2, i, j) = entry(lower.view(), i, j, 0);
      m(3, j, i) = entry(lower.view(), i, j, 0);
      m(4, i, j) = i == j ? 1 : 0;
      m(5, i, j) = std::ldexp(m(1, i, j), -400);
    }
  }
  compare(m, {});
  if (!quick()) compare(m, asking({9, 9}));
  for (const index_t size : {0, 1, 2, 3, 7}) {
    compare(Random(unsigned(size)).array<double, 3>({2, size, size}), {});
  }
  CHECK(verify::quasiseparable<double>(exec::cuda{}, Array<double, 3, space::cuda>({0, 3, 3}))
            .matrices.empty());
}

TEST_CASE("a power of two changes no profile", "[verify_batch]") {
  const index_t n = quick() ? 14 : 40;
  Array<double, 3> m({3, n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      m(0, i, j) = 1 / double(i + j + 1);
      m(1, i, j) = std::ldexp(m(0, i, j), 1000);
      m(2, i, j) = std::ldexp(m(0, i, j), -960);
    }
  }
  const auto report = verify::quasiseparable<double>(exec::cuda{}, to_device(m));
  for (std::size_t b = 1; b < 3; ++b) {
    CHECK(report.matrices[b].lower == report.matrices[0].lower);
    CHECK(report.matrices[b].upper == report.matrices[0].upper);
    CHECK(report.matrices[b].smallest_kept == report.matrices[0].smallest_kept);
  }
}

TEST_CASE("loose tolerances", "[verify_batch]") {
  auto m = mixers<double>(1, quick() ? 18 : 45, {3, 3}, 11);
  Random random(12);
  for (double& v : m) v += 1e-7 * random.real();
  verify::Options options;
  options.tolerance = 1e-4;
  compare(m, options);
  options.order = Order{3, 3};
  compare(m, options);
}

TEST_CASE("batches with strides, batches that repeat", "[verify_batch]") {
  const index_t n = quick() ? 14 : 90;
  const auto m = mixers<double>(3, n, {2, 3}, 13);
  const auto there = to_device(m);
  const auto plain = verify::quasiseparable<double>(exec::cuda{}, there);
  const auto again = verify::quasiseparable<double>(exec::cuda{}, there);
  const auto turned =
      verify::quasiseparable<double>(exec::cuda{}, there.view().transposed().reversed(0));
  const auto last = verify::quasiseparable<double>(exec::cuda{}, there.view().slice(0, 2, 3));
  for (std::size_t b = 0; b < 3; ++b) {
    CHECK(again.matrices[b].largest_dropped == plain.matrices[b].largest_dropped);
    CHECK(again.matrices[b].smallest_kept == plain.matrices[b].smallest_kept);
    CHECK(turned.matrices[2 - b].lower == plain.matrices[b].upper);
    CHECK(turned.matrices[2 - b].upper == plain.matrices[b].lower);
  }
  CHECK(last.matrices[0].smallest_kept == plain.matrices[2].smallest_kept);
  CHECK(last.matrices[0].largest_dropped == plain.matrices[2].largest_dropped);
}

TEST_CASE("what cannot be verified is refused", "[verify_batch]") {
  auto m = mixers<double>(3, 20, {1, 1}, 17);
  m(1, 4, 5) = NAN;
  try {
    verify::quasiseparable<double>(exec::cuda{}, to_device(m));
    FAIL("NaN was accepted");
  } catch (const DomainError& e) {
    CHECK(std::string(e.what()).find("entry (4, 5) of matrix 1 of the batch is nan") !=
          std::string::npos);
  }
  const Array<double, 3, space::cuda> rectangular({2, 3, 4}), square({2, 3, 3});
  CHECK_THROWS_AS(verify::quasiseparable<double>(exec::cuda{}, rectangular), ShapeError);
  verify::Options options;
  options.relative = verify::Relative::block;
  CHECK_THROWS_AS(verify::quasiseparable<double>(exec::cuda{}, square, options), Unsupported);
  options = {};
  options.blocks = {1};
  CHECK_THROWS_AS(verify::quasiseparable<double>(exec::cuda{}, square, options), Unsupported);
  options = {};
  options.tolerance = -1;
  CHECK_THROWS_AS(verify::semiseparable<double>(exec::cuda{}, square, options), DomainError);
  CHECK_THROWS_AS(verify::semiseparable<double>(exec::cuda{}, square, asking({-1, 0})),
                  DomainError);
}
