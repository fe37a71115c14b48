// from_low_rank, from_diagonal_plus_low_rank, from_companion, from_arrow
#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_arrow.hpp"
#include "structmat/quasiseparable/from_companion.hpp"
#include "structmat/quasiseparable/from_low_rank.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::quasiseparable;

namespace {

/// The largest |m_ij - expected(b, i, j)|.
template <class M, class Expected>
double worst_entry(const M& m, const Expected& expected) {
  const auto dense = m.to_dense();
  double worst = 0;
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < m.size(); ++i) {
      for (index_t j = 0; j < m.size(); ++j) {
        const double error = std::abs(dense(b, i, j) - expected(b, i, j));
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      }
    }
  }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("low rank, and with a diagonal", "", float, double, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 17}) {
    for (const index_t r : {0, 1, 4, 20}) {
      const auto u = random.array<T, 3>({1, n, r}), v = random.array<T, 3>({3, n, r});
      const auto d = random.array<T, 2>({1, n});
      const auto product = [&](index_t b, index_t i, index_t j) {
        T sum{};
        for (index_t k = 0; k < r; ++k) sum += u(0, i, k) * v(b, n - 1 - j, k);
        return sum;
      };
      const double bound = 4 * double(r + 1) * double(r + 1) * double(epsilon<T>);
      const auto low_rank = from_low_rank<T>(u, v.view().reversed(1));
      CHECK(low_rank.order() == Order{r, r});
      CHECK(worst_entry(low_rank, product) <= bound);
      const auto shifted = from_diagonal_plus_low_rank<T>(d, u, v.view().reversed(1));
      CHECK(worst_entry(shifted, [&](index_t b, index_t i, index_t j) {
              return product(b, i, j) + (i == j ? d(0, i) : T{});
            }) <= bound);
    }
  }
  CHECK(message_from<ShapeError>([] {
          from_low_rank<double>(Array<double, 3>({1, 4, 2}), Array<double, 3>({1, 4, 3}));
        }) == "quasiseparable::from_low_rank: V has extent 3 in dimension 2, expected 2");
  CHECK_THROWS_AS(
      from_diagonal_plus_low_rank<double>(Array<double, 2>({1, 5}), Array<double, 3>({1, 4, 2}),
                                          Array<double, 3>({1, 4, 2})),
      ShapeError);
}

TEMPLATE_TEST_CASE("companion matrices", "", float, std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {0, 1, 2, 3, 17}) {
    const auto c = random.array<T, 2>({2, n});
    const auto m = from_companion<T>(c);
    CHECK(m.order() == Order{1, 1});
    CHECK(worst_entry(m, [&](index_t b, index_t i, index_t j) {
            if (j == n - 1) return -c(b, i);
            return i == j + 1 ? T{1} : T{};
          }) == 0);
  }
  // M^T (1, x, x^2) = x (1, x, x^2) for a root x: (x - 1)(x - 2)(x - 3) = x^3 - 6 x^2 + 11 x - 6.
  Array<double, 2> c({1, 3});
  std::ranges::copy(std::array{-6.0, 11.0, -6.0}, c.begin());
  const auto m = from_companion<double>(c);
  for (const double x : {1.0, 2.0, 3.0}) {
    const std::vector<double> powers{1, x, x * x};
    std::vector<double> y(3);
    m.apply_transpose(powers, y);
    for (int i = 0; i < 3; ++i) CHECK(y[i] == x * powers[i]);
  }
}

TEMPLATE_TEST_CASE("arrow matrices", "", double, std::complex<float>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 3, 17}) {
    const index_t off = std::max<index_t>(n - 1, 0);
    const auto d = random.array<T, 2>({1, n}), row = random.array<T, 2>({2, off}),
               column = random.array<T, 2>({2, off});
    for (const ArrowHead head : {ArrowHead::first, ArrowHead::last}) {
      const auto m = from_arrow<T>(d, row, column.view().reversed(1), head);
      const index_t full = head == ArrowHead::first ? 0 : n - 1;
      const index_t shift = head == ArrowHead::first ? 1 : 0;
      CHECK(worst_entry(m, [&](index_t b, index_t i, index_t j) {
              if (i == j) return d(0, i);
              if (i == full) return row(b, j - shift);
              if (j == full) return column(b, n - 2 - (i - shift));
              return T{};
            }) == 0);
    }
  }
  CHECK(message_from<ShapeError>([] {
          from_arrow<double>(Array<double, 2>({1, 3}), Array<double, 2>({2, 2}),
                             Array<double, 2>({3, 2}), ArrowHead::last);
        }) == "quasiseparable::from_arrow: column has batch 3, the other generators have 2");
}
