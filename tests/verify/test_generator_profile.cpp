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
