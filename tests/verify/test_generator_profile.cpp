#include "structmat/verify/generator_profile.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class M>
auto dense_of(const M& m) {
  return to_array(m.to_dense().view().select(0, 0));
}

template <class T>
std::vector<double> block_values(const View<const T, 2>& block) {
  const index_t number = std::min(block.extent(0), block.extent(1));
  Array<real_t<T>, 1> values({number});
  dense::singular_values<T>(block, values);
  return {values.begin(), values.end()};
}

/// Ranks, margins and values against the definition: one singular value decomposition a block.
/// extra = 1: blocks with the diagonal, of the lower half only.
template <class T, class M>
void check_against_definition(const M& m, index_t extra, verify::Relative relative) {
  const Array<T, 2> dense = dense_of(m);
  const index_t n = dense.extent(0);
  const double tolerance = 200 * double(n + 1) * double(epsilon<T>);
  const double noise = 40 * double(n + 1) * double(epsilon<T>);
  const double norm = dense::frobenius_norm<T>(dense.view());
  const verify::Options options{.tolerance = tolerance, .relative = relative};
  verify::Report report;
  if constexpr (requires { verify::quasiseparable(m, options); }) {
    report = verify::quasiseparable(m, options);
  } else {
    report = verify::semiseparable(m, options);
  }
  const auto values = verify::singular_values(m);
  CHECK(report.size == n);
  CHECK(report.complete);
  CHECK(report.holds);
  CHECK(report.frobenius_norm == Approx(norm).epsilon(noise).margin(0));

  double kept = INFINITY, dropped = 0;
  Order order;
  for (const bool lower : {true, false}) {
    if (!lower && extra == 1) break;
    const auto& ranks = lower ? report.lower : report.upper;
    const auto& found = lower ? values.lower : values.upper;
    const index_t entries = std::max<index_t>(n - 1 + extra, 0);
    REQUIRE(ranks.size() == std::size_t(entries));
    REQUIRE(found.extent(0) == entries);
    for (index_t t = 0; t < entries; ++t) {
      const index_t k = t + 1 - extra;
      const View<const T, 2> of =
          lower ? View<const T, 2>(dense.view()) : View<const T, 2>(dense.view()).transposed();
      const auto expected = block_values<T>(of.slice(0, k, n).slice(1, 0, t + 1));
      INFO("block " << t << ", lower " << lower);
      const double reference = relative == verify::Relative::matrix ? norm : expected[0];
      index_t rank = 0;
      const auto number = index_t(expected.size());
      while (rank < number && expected[rank] > tolerance * reference) ++rank;
      CHECK(ranks[t] == rank);
      if (rank > 0) kept = std::min(kept, expected[rank - 1] / reference);
      if (rank < number && reference > 0) dropped = std::max(dropped, expected[rank] / reference);
      double worst = 0;
      for (index_t l = 0; l < std::max(number, found.extent(1)); ++l) {
        const double e = l < number ? expected[l] : 0;
        const double v = l < found.extent(1) ? double(found(t, l)) : 0;
        worst = std::max(worst, std::abs(e - v));
      }
      // Generators may cancel in a block, but not much more than in the whole.
      CHECK(worst <= noise * norm);
      (lower ? order.lower : order.upper) = std::max((lower ? order.lower : order.upper), rank);
    }
  }
  CHECK(report.order == order);
  CHECK(std::abs(report.smallest_kept - (std::isfinite(kept) ? kept : 0)) <= noise);
  CHECK(std::abs(report.largest_dropped - dropped) <= noise);

  // The certificate names a block of the largest rank and its singular values.
  if (report.worst_block) {
    const auto& w = *report.worst_block;
    const auto expected = block_values<T>(
        dense.view().slice(0, w.row_begin, w.row_end).slice(1, w.col_begin, w.col_end));
    const double reference =
        relative == verify::Relative::matrix || expected.empty() ? norm : expected[0];
    for (std::size_t l = 0; l < w.singular_values.size(); ++l) {
      const double e = l < expected.size() && reference > 0 ? expected[l] / reference : 0;
      CHECK(std::abs(w.singular_values[l] - e) <= noise);
    }
  }
}

constexpr index_t sizes[] = {0, 1, 2, 3, 7, 33};
constexpr Order orders[] = {{0, 0}, {1, 2}, {3, 0}, {5, 5}, {9, 40}};

template <class T, class K>
void check_kind() {
  for (const index_t n : sizes) {
    for (const Order r : orders) {
      for (const auto relative : {verify::Relative::matrix, verify::Relative::block}) {
        INFO("n " << n << ", orders " << r.lower << ", " << r.upper << ", relative "
                  << int(relative));
        if constexpr (std::same_as<K, transition::Block>) {
          check_against_definition<T>(random_block_quasiseparable<T>(n, r, 1, unsigned(n)), 0,
                                      relative);
          check_against_definition<T>(random_block_semiseparable<T>(n, r.lower, 1, unsigned(n)), 1,
                                      relative);
        } else {
          check_against_definition<T>(random_quasiseparable<T, K>(n, r, 1, unsigned(n)), 0,
                                      relative);
          check_against_definition<T>(random_semiseparable<T, K>(n, r.lower, 1, unsigned(n)), 1,
                                      relative);
        }
      }
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the profile from generators is the one of the definition", "", float, double,
                   std::complex<float>, std::complex<double>) {
  SECTION("scalar") {
    check_kind<TestType, transition::Scalar>();
  }
  SECTION("diagonal") {
    check_kind<TestType, transition::Diagonal>();
  }
  SECTION("dense") {
    check_kind<TestType, transition::Dense>();
  }
  SECTION("block") {
    check_kind<TestType, transition::Block>();
  }
}

TEST_CASE("small singular values are seen from generators: 2.265e-9 beside 1 is not 0") {
  // Nearly dependent states: Gramians would lose the second singular value.
  const index_t n = 40;
  Quasiseparable<double, transition::Scalar> m(n, {2, 0});
  for (double& a : m.a) a = 1;
  for (index_t i = 0; i < n; ++i) {
    m.p(0, i, 0) = m.p(0, i, 1) = 0.1;
    m.p(0, i, 1) += 3e-10 * std::sin(double(i));
    m.q(0, i, 0) = m.q(0, i, 1) = 0.1;
    m.q(0, i, 1) += 0.05 * std::cos(double(3 * i));
  }
  const Array<double, 2> dense = dense_of(m);
  const auto expected = block_values<double>(dense.view().slice(0, 20, n).slice(1, 0, 20));
  REQUIRE(expected[1] < 1e-8 * expected[0]);
  REQUIRE(expected[1] > 1e-11 * expected[0]);
  const auto values = verify::singular_values(m);
  CHECK(values.lower(19, 1) == Approx(expected[1]).epsilon(1e-4));
  const auto report = verify::quasiseparable(m), by_dense = verify::quasiseparable(dense);
  CHECK(report.order == Order{2, 0});
  CHECK(report.lower == by_dense.lower);
  CHECK(report.smallest_kept == Approx(by_dense.smallest_kept).epsilon(1e-3));
}

TEST_CASE("a nearly rank-2 matrix, with a third state of known weight") {
  const index_t n = 700;  // several windows
  auto m = random_quasiseparable<double, transition::Diagonal>(n, {3, 0}, 1, 5);
  for (index_t i = 0; i < n; ++i) m.p(0, i, 2) *= 1e-7;
  CHECK(verify::quasiseparable(m).order.lower == 3);
  const auto coarse = verify::quasiseparable(m, {.tolerance = 1e-6});
  CHECK(coarse.order.lower == 2);
  CHECK(coarse.largest_dropped < 1e-7);
  CHECK(coarse.largest_dropped > 1e-12);
  const auto by_dense = verify::quasiseparable(dense_of(m), {.tolerance = 1e-6});
  CHECK(coarse.largest_dropped == Approx(by_dense.largest_dropped).epsilon(1e-3));
  CHECK(coarse.smallest_kept == Approx(by_dense.smallest_kept).epsilon(1e-6));
  CHECK(coarse.lower == by_dense.lower);
}

TEMPLATE_TEST_CASE("blocks and states of any scale", "", transition::Scalar, transition::Diagonal,
                   transition::Dense) {
  const index_t n = 24;
  const auto plain = random_quasiseparable<double, TestType>(n, {3, 3}, 1, 6);
  const auto expected = verify::quasiseparable(plain, {.relative = verify::Relative::block});
  auto m = plain;
  SECTION("everything 1e150, the norm beyond the largest number") {
    for (auto* g : {&m.p, &m.q, &m.g, &m.h}) {
      for (double& v : *g) v *= 1e160;
    }
    CHECK(verify::quasiseparable(m).order == Order{3, 3});
    CHECK(std::isinf(verify::quasiseparable(m).frobenius_norm));
  }
  SECTION("everything 1e-150, entries below the smallest number") {
    for (auto* g : {&m.p, &m.q, &m.g, &m.h}) {
      for (double& v : *g) v *= 1e-170;
    }
    for (double& v : m.d) v = 0;
    CHECK(verify::quasiseparable(m).order == Order{3, 3});
  }
  SECTION("states of opposite scales in out and in") {
    if constexpr (TestType::rank == 4) {
      for (double& v : m.a) v = 0;
      for (index_t i = 0; i < n; ++i) {
        for (index_t l = 0; l < 3; ++l) m.a(0, i, l, l) = 0.7;
      }
    }
    const auto before = verify::quasiseparable(m, {.relative = verify::Relative::block});
    const double scales[] = {1e150, 1, 1e-150};
    for (index_t i = 0; i < n; ++i) {
      for (index_t l = 0; l < 3; ++l) {
        m.p(0, i, l) *= scales[l];
        m.q(0, i, l) /= scales[l];
      }
    }
    const auto after = verify::quasiseparable(m, {.relative = verify::Relative::block});
    CHECK(after.lower == before.lower);
    CHECK(after.smallest_kept == Approx(before.smallest_kept).epsilon(1e-9));
    return;
  }
  SECTION("rows far down are weak") {
    for (index_t i = 0; i < n; ++i) {
      for (index_t l = 0; l < 3; ++l) m.p(0, i, l) *= i < n / 2 ? 1e150 : 1e-150;
    }
    const auto weak = verify::quasiseparable(m);
    CHECK(weak.lower[n / 2 + 3] == 0);
  }
  const auto by_block = verify::quasiseparable(m, {.relative = verify::Relative::block});
  for (std::size_t t = std::size_t(n / 2); t < expected.lower.size(); ++t) {
    CHECK(by_block.lower[t] == expected.lower[t]);
  }
}

TEMPLATE_TEST_CASE("the verdict and an early stop from generators", "", transition::Diagonal,
                   transition::Block) {
  const index_t n = 3000;
  const auto m = [&] {
    if constexpr (std::same_as<TestType, transition::Block>) {
      return random_block_quasiseparable<double>(n, {6, 4}, 1, 8);
    } else {
      return random_quasiseparable<double, transition::Diagonal>(n, {6, 4}, 1, 8);
    }
  }();
  const auto measured = verify::quasiseparable(m);
  CHECK(measured.complete);
  CHECK(verify::quasiseparable(m, {.order = measured.order}).holds);

  const Order less{measured.order.lower, measured.order.upper - 1};
  double progress = 0;
  const auto early = verify::quasiseparable(m, {.order = less, .progress = [&](double done) {
                                                  CHECK(done > progress);
                                                  progress = done;
                                                }});
  CHECK_FALSE(early.holds);
  CHECK_FALSE(early.complete);
  CHECK(progress < 1);
  CHECK(early.upper.size() < std::size_t(n - 1));
  REQUIRE(early.worst_block);
  CHECK(early.worst_block->part == verify::Part::upper);
  REQUIRE(early.worst_block->singular_values.size() > std::size_t(less.upper));
  CHECK(early.worst_block->singular_values[less.upper] > early.tolerance);
  CHECK(std::equal(early.upper.begin(), early.upper.end(), measured.upper.begin()));

  const auto full = verify::quasiseparable(m, {.order = less, .stop_at_violation = false});
  CHECK_FALSE(full.holds);
  CHECK(full.complete);
  CHECK(full.upper == measured.upper);
  CHECK(full.lower == measured.lower);
}

TEST_CASE("generators that cannot be judged are refused") {
  auto m = random_quasiseparable<double, transition::Dense>(6, {2, 1}, 1, 1);
  m.p(0, 0, 0) = m.q(0, 5, 1) = m.a(0, 0, 1, 1) = m.a(0, 5, 0, 0) = NAN;  // never read
  CHECK(verify::quasiseparable(m).order.lower == 2);
  m.a(0, 3, 1, 0) = NAN;
  CHECK(message_from<DomainError>([&] { verify::quasiseparable(m); }) ==
        "verify::quasiseparable: a (3, 1, 0) is not finite, only finite input has an answer");
  m.a(0, 3, 1, 0) = 0;
  m.d(0, 4) = -INFINITY;
  CHECK(message_from<DomainError>([&] { verify::quasiseparable(m); }) ==
        "verify::quasiseparable: d (4) is not finite, only finite input has an answer");
  CHECK(message_from<ShapeError>([] {
          verify::semiseparable(random_semiseparable<double, transition::Scalar>(6, 2, 3, 1));
        }) == "verify::semiseparable: the generators have batch 3, expected 1");

  auto s = random_block_semiseparable<double>(9, 2, 1, 1);
  s.diagonal.block(0, 1)(0, 1) = NAN;  // above the diagonal
  CHECK_NOTHROW(verify::semiseparable(s));
  s.diagonal.block(0, 1)(1, 0) = NAN;
  CHECK(message_from<DomainError>([&] { verify::semiseparable(s); }) ==
        "verify::semiseparable: diagonal block (1, 1, 0) is not finite, only finite input has an "
        "answer");
  const auto good = random_semiseparable<double, transition::Diagonal>(6, 2, 1, 1);
  CHECK_THROWS_AS(verify::semiseparable(good, {.tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(verify::semiseparable(good, {.order = Order{-1, 0}}), DomainError);
}
