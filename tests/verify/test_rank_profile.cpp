#include "structmat/verify/rank_profile.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
Array<T, 2> dense_of(const Array<T, 3>& batch) {
  return to_array(batch.view().select(0, 0));
}

/// Singular values of a block, straight from LAPACK.
template <class T>
std::vector<double> block_values(const View<const T, 2>& block) {
  const index_t number = std::min(block.extent(0), block.extent(1));
  Array<T, 2> copy_of({block.extent(1), block.extent(0)});
  copy(block.transposed(), copy_of.view());
  Array<real_t<T>, 1> values({number});
  dense::singular_values<T>(copy_of.view().transposed(), values);
  return {values.begin(), values.end()};
}

struct Expected {
  std::vector<index_t> lower, upper;
  double kept = INFINITY, dropped = 0;
};

/// The profile by one singular value decomposition a block: the definition. extra = 1: with the
/// diagonal.
template <class T>
Expected profile_by_definition(const Array<T, 2>& m, index_t extra, double tolerance,
                               verify::Relative relative) {
  const index_t n = m.extent(0);
  const double norm = dense::frobenius_norm<T>(m.view());
  Expected e;
  for (index_t k = 1 - extra; k < n; ++k) {
    for (const bool lower : {true, false}) {
      const auto block = lower ? m.view().slice(0, k, n).slice(1, 0, k + extra)
                               : m.view().slice(0, 0, k + extra).slice(1, k, n);
      const auto values = block_values<T>(block);
      const double reference =
          relative == verify::Relative::matrix || values.empty() ? norm : values[0];
      std::size_t rank = 0;
      while (rank < values.size() && values[rank] > tolerance * reference) ++rank;
      (lower ? e.lower : e.upper).push_back(index_t(rank));
      if (rank > 0) e.kept = std::min(e.kept, values[rank - 1] / reference);
      if (rank < values.size() && reference > 0)
        e.dropped = std::max(e.dropped, values[rank] / reference);
    }
  }
  return e;
}

Array<double, 2> inverse_of_second_difference(index_t n) {
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      m(i, j) = double(std::min(i, j) + 1) * double(n - std::max(i, j)) / double(n + 1);
    }
  }
  return m;
}

Array<double, 2> shift_matrix(index_t n) {
  Array<double, 2> m({n, n});
  for (index_t i = 1; i < n; ++i) m(i, i - 1) = 1;
  return m;
}

}  // namespace

TEMPLATE_TEST_CASE("the profile is the one of the definition", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 3, 7, 16, 40, 70}) {
    for (const Order r : {Order{0, 0}, Order{1, 2}, Order{3, 0}, Order{6, 6}, Order{60, 60}}) {
      const auto q = random_quasiseparable<T, transition::Diagonal>(n, r, 1, unsigned(n));
      const Array<T, 2> m = dense_of(q.to_dense());
      for (const auto relative : {verify::Relative::matrix, verify::Relative::block}) {
        // Between noise and the singular values that count.
        const double tolerance = 100 * double(n + 1) * double(epsilon<T>);
        const auto report =
            verify::quasiseparable(m, {.tolerance = tolerance, .relative = relative});
        const Expected e = profile_by_definition(m, 0, tolerance, relative);
        INFO("n " << n << ", orders " << r.lower << ", " << r.upper << ", relative "
                  << int(relative));
        CHECK(report.lower == e.lower);
        CHECK(report.upper == e.upper);
        CHECK(report.complete);
        CHECK(report.holds);
        CHECK(report.order.lower ==
              (e.lower.empty() ? 0 : *std::max_element(e.lower.begin(), e.lower.end())));
        CHECK(report.order.upper ==
              (e.upper.empty() ? 0 : *std::max_element(e.upper.begin(), e.upper.end())));
        const double noise = 20 * double(n + 1) * double(epsilon<T>);
        CHECK(std::abs(report.smallest_kept - (std::isfinite(e.kept) ? e.kept : 0)) <= noise);
        CHECK(std::abs(report.largest_dropped - e.dropped) <= noise);

        const auto with_diagonal =
            verify::semiseparable(m, {.tolerance = tolerance, .relative = relative});
        const Expected s = profile_by_definition(m, 1, tolerance, relative);
        if (n > 1 && r.lower > 0 && r.upper > 0) {
          CHECK(with_diagonal.lower == s.lower);
          CHECK(with_diagonal.upper == s.upper);
        }
      }
    }
  }
}

TEST_CASE("a random dense matrix has full rank everywhere, large blocks included") {
  Random random(1);
  const index_t n = 300;
  const auto m = random.array<double, 2>({n, n});
  const auto report = verify::quasiseparable(m);
  for (index_t k = 1; k < n; ++k) {
    CHECK(report.lower[k - 1] == std::min(k, n - k));
    CHECK(report.upper[k - 1] == std::min(k, n - k));
  }
  CHECK(report.order == Order{n / 2, n / 2});
}

TEST_CASE("small singular values are seen: 2.265e-9 beside 1 is not 0") {
  // Two columns that differ by 1e-9-ish: Gramians would lose the second singular value.
  const index_t n = 40;
  Array<double, 2> m({n, n});
  for (index_t i = n / 2; i < n; ++i) {
    for (index_t j = 0; j < n / 2; ++j) {
      m(i, j) = 1 + (j % 2 == 0 ? 4e-9 : 0) * std::sin(double(i));
    }
  }
  const auto values = block_values<double>(m.view().slice(0, n / 2, n).slice(1, 0, n / 2));
  const auto report = verify::quasiseparable(m);
  CHECK(report.order == Order{2, 0});
  REQUIRE(report.worst_block);
  CHECK(report.smallest_kept < 1e-8);
  const auto at = verify::quasiseparable(m, {.order = Order{1, 0}, .stop_at_violation = false});
  CHECK_FALSE(at.holds);
  REQUIRE(at.worst_block);
  CHECK(at.worst_block->row_begin == n / 2);
  CHECK(at.worst_block->singular_values[1] * at.frobenius_norm == Approx(values[1]).epsilon(1e-5));
}

TEST_CASE("known orders") {
  for (const index_t n : {4, 5, 100, 513}) {
    INFO("n " << n);
    auto report = verify::quasiseparable(inverse_of_second_difference(n));
    CHECK(report.order == Order{1, 1});
    CHECK(report.largest_dropped < 1e-14);
    CHECK(verify::semiseparable(inverse_of_second_difference(n)).order == Order{1, 1});

    report = verify::quasiseparable(shift_matrix(n));
    CHECK(report.order == Order{1, 0});
    CHECK(verify::semiseparable(shift_matrix(n)).order.lower == 2);

    Array<double, 2> ones({n, n});
    for (double& v : ones) v = 1;
    CHECK(verify::quasiseparable(ones).order == Order{1, 1});
    ones(1, 1) = 0;  // the diagonal is free for quasiseparable, not for semiseparable matrices
    CHECK(verify::quasiseparable(ones).order == Order{1, 1});
    CHECK(verify::semiseparable(ones).order == Order{2, 2});
  }
}

TEMPLATE_TEST_CASE("a power of two changes no profile", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const index_t n = 48;
  const auto hilbert = [&](int exponent) {
    return matrix<T>(n, n, [&](index_t i, index_t j) {
      return T(std::ldexp(1 / real_t<T>(i + j + 1), exponent));
    });
  };
  const auto expected = verify::quasiseparable(hilbert(0));
  CHECK(expected.order.lower >= 4);
  const bool single = sizeof(real_t<T>) == 4;
  for (const int exponent : {single ? 90 : 800, single ? -90 : -800, single ? 126 : 1022}) {
    INFO("2^" << exponent);
    const auto report = verify::quasiseparable(hilbert(exponent));
    CHECK(report.lower == expected.lower);
    CHECK(report.upper == expected.upper);
    CHECK(report.largest_dropped == Approx(expected.largest_dropped));
    CHECK(report.smallest_kept == Approx(expected.smallest_kept));
    if (std::isfinite(report.frobenius_norm)) {
      CHECK(report.frobenius_norm == Approx(std::ldexp(expected.frobenius_norm, exponent)));
    }
  }
}

TEST_CASE("over the reals [1 2; 3 1] has rank 2") {
  Array<double, 2> m({4, 4});
  m(2, 0) = 1;
  m(2, 1) = 2;
  m(3, 0) = 3;
  m(3, 1) = 1;
  const auto report = verify::quasiseparable(m);
  CHECK(report.order == Order{2, 0});
  CHECK(report.lower == std::vector<index_t>{1, 2, 1});
  REQUIRE(report.worst_block);
  CHECK(report.worst_block->row_begin == 2);
  CHECK(report.worst_block->col_end == 2);
}

TEST_CASE("verdict, certificate and early stop") {
  const index_t n = 400;
  const auto q = random_quasiseparable<double, transition::Diagonal>(n, {5, 3}, 1, 2);
  const Array<double, 2> m = dense_of(q.to_dense());
  CHECK(verify::quasiseparable(m, {.order = Order{5, 3}}).holds);
  CHECK(verify::quasiseparable(m, {.order = Order{6, 30}}).holds);

  const auto early = verify::quasiseparable(m, {.order = Order{5, 2}});
  CHECK_FALSE(early.holds);
  CHECK_FALSE(early.complete);
  CHECK(early.upper.size() < std::size_t(n - 1));
  const auto full = verify::quasiseparable(m, {.order = Order{5, 2}, .stop_at_violation = false});
  CHECK_FALSE(full.holds);
  CHECK(full.complete);
  CHECK(full.upper.size() == std::size_t(n - 1));

  // The certificate can be checked by anybody: its singular values are those of the block it names.
  for (const auto& report : {early, full}) {
    REQUIRE(report.worst_block);
    const auto& w = *report.worst_block;
    CHECK(w.part == verify::Part::upper);
    const auto values = block_values<double>(
        m.view().slice(0, w.row_begin, w.row_end).slice(1, w.col_begin, w.col_end));
    REQUIRE(w.singular_values.size() > 2);
    for (std::size_t l = 0; l < w.singular_values.size(); ++l) {
      CHECK(w.singular_values[l] * report.frobenius_norm ==
            Approx(l < values.size() ? values[l] : 0).margin(1e-13 * report.frobenius_norm));
    }
    CHECK(w.singular_values[2] > report.tolerance);
  }
}

TEST_CASE("relative to the block, weak blocks count too") {
  // A block 1e-20 below the rest: relative to the matrix it is nothing, relative to itself it has
  // rank 2.
  const index_t n = 60;
  const auto q = random_quasiseparable<double, transition::Diagonal>(n, {2, 0}, 1, 3);
  Array<double, 2> m = dense_of(q.to_dense());
  for (index_t i = n / 2; i < n; ++i) {
    for (index_t j = 0; j < i; ++j) m(i, j) *= 1e-20;
  }
  const auto by_matrix = verify::quasiseparable(m),
             by_block = verify::quasiseparable(m, {.relative = verify::Relative::block});
  CHECK(by_matrix.lower[n / 2 + 5] == 0);
  CHECK(by_block.lower[n / 2 + 5] == 2);
  CHECK(by_block.order.lower == 2);
}

TEST_CASE("triangular matrices are judged by their own half") {
  const auto s = random_semiseparable<double, transition::Diagonal>(50, 4, 1, 4);
  const Array<double, 2> m = dense_of(s.to_dense());
  const auto lower = verify::semiseparable(m, {.order = Order{4, 0}});
  CHECK(lower.holds);
  CHECK(lower.order == Order{4, 0});
  CHECK(lower.lower.size() == 50);
  CHECK(lower.upper.empty());
  const auto upper = verify::semiseparable<double>(m.view().transposed(), {});
  CHECK(upper.order == Order{0, 4});
  CHECK(upper.lower.empty());
  CHECK(lower.lower == upper.upper);
  CHECK(verify::semiseparable(Array<double, 2>({1, 1})).order == Order{0, 0});
}

TEST_CASE("progress rises to 1") {
  double last = 0;
  bool rising = true;
  verify::Options options;
  options.progress = [&](double done) {
    rising = rising && done >= last;
    last = done;
  };
  verify::quasiseparable(inverse_of_second_difference(100), options);
  CHECK(rising);
  CHECK(last == 1);
}

TEST_CASE("what has no rank profile is refused") {
  CHECK(message_from<ShapeError>([] {
          verify::quasiseparable(Array<double, 2>({3, 4}));
        }) == "verify::quasiseparable: the matrix is 3 x 4, it must be square");
  Array<std::complex<double>, 2> m({5, 5});
  m(4, 0) = {0, NAN};
  CHECK(message_from<DomainError>([&] { verify::semiseparable(m); }) ==
        "verify::semiseparable: entry (4, 0) is (0,nan), only finite input has an answer");
  const Array<double, 2> zero({5, 5});
  CHECK(message_from<DomainError>([&] {
          verify::quasiseparable(zero, {.order = Order{0, -1}});
        }) == "verify::quasiseparable: the order asked for is (0, -1), it must not be negative");
  CHECK_THROWS_AS(verify::quasiseparable(zero, {.tolerance = NAN}), DomainError);
  CHECK(verify::quasiseparable(zero).order == Order{0, 0});
}
