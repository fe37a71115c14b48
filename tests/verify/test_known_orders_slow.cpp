// The known answers again, in matrices so large that no small case of any path can hide behind them.

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/verify/rank_profile.hpp"

using namespace structmat;

namespace {

constexpr index_t n = 4100;

/// M x by compressed generators against M x by the rows of M.
void check_product(const Array<double, 2>& m, const Quasiseparable<double, transition::Block>& q) {
  Array<double, 1> x({n});
  for (index_t i = 0; i < n; ++i) x(i) = i % 3 == 0 ? 1 : -0.5;
  const auto y = q * x;
  for (const index_t i : {index_t{0}, n / 2, n - 1}) {
    double sum = 0, scale = 0;
    for (index_t j = 0; j < n; ++j) {
      sum += m(i, j) * x(j);
      scale += std::abs(m(i, j) * x(j));
    }
    CHECK(std::abs(y(i) - sum) <= 4 * double(n) * epsilon<double> * scale);
  }
}

}  // namespace

TEST_CASE("the inverse of tridiag(-1, 2, -1) has orders (1, 1) at n = 4100") {
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      m(i, j) = double(std::min(i, j) + 1) * double(n - std::max(i, j)) / double(n + 1);
    }
  }
  const auto report = verify::quasiseparable(m, {.order = Order{1, 1}});
  CHECK(report.holds);
  CHECK(report.order == Order{1, 1});
  CHECK(std::all_of(report.lower.begin(), report.lower.end(), [](index_t r) { return r == 1; }));
  CHECK(verify::semiseparable(m).order == Order{1, 1});
  const auto compressed = quasiseparable::from_dense(m).matrix;
  CHECK(compressed.order() == Order{1, 1});
  check_product(m, compressed);
}

TEST_CASE("the shift matrix has orders (1, 0), and [1 2; 3 1] rank 2, inside n = 4100") {
  Array<double, 2> m({n, n});
  for (index_t i = 1; i < n; ++i) m(i, i - 1) = 1;
  CHECK(verify::quasiseparable(m).order == Order{1, 0});
  const auto compressed = quasiseparable::from_dense(m).matrix;
  CHECK(compressed.order() == Order{1, 0});
  check_product(m, compressed);

  const index_t at = n / 2;
  m(at, at - 2) = 1;
  m(at, at - 1) = 2;
  m(at + 1, at - 2) = 3;
  m(at + 1, at - 1) = 1;
  const auto report = verify::quasiseparable(m);
  CHECK(report.order == Order{2, 0});
  CHECK(report.lower[at - 2] == 1);
  CHECK(report.lower[at - 1] == 2);  // k = at: rows at and at + 1, columns at - 2 and at - 1
  CHECK(report.lower[at] == 1);
}

TEST_CASE("exp(-|i - j|): orders (1, 1), and (K 1)[500] of n = 4100 as of n = 1000") {
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) m(i, j) = std::exp(-std::abs(double(i - j)));
  }
  const auto q = quasiseparable::from_dense(m).matrix;
  CHECK(q.order() == Order{1, 1});
  const auto y = q * std::vector<double>(n, 1.0);
  // Beyond 500 neighbours on either side terms are below exp(-500).
  CHECK(y(500) == Approx(2.163953413738653).epsilon(1e-14));
}
