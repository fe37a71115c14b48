// Conversions in double against exact arithmetic: integer generators give the same integers.
#include <catch2/catch.hpp>

#include "structmat/exact/convert.hpp"
#include "structmat/exact/quasiseparable_algebra.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_arrow.hpp"
#include "structmat/quasiseparable/from_banded.hpp"
#include "structmat/quasiseparable/from_companion.hpp"
#include "structmat/quasiseparable/from_low_rank.hpp"
#include "structmat/quasiseparable/index_sets.hpp"
#include "structmat/quasiseparable/inverse_of_tridiagonal.hpp"
#include "structmat/quasiseparable/to_low_rank.hpp"

using namespace structmat;
using exact::Engine;
using exact::RationalField;
using Exact = exact::Quasiseparable<RationalField>;
using Floating = structmat::Quasiseparable<double, transition::Dense>;

namespace {

template <int Rank>
Array<double, Rank> integers(const std::array<index_t, Rank>& extents, Engine& engine) {
  Array<double, Rank> a(extents);
  for (double& x : a) x = std::uniform_int_distribution<int>(-2, 2)(engine);
  return a;
}

exact::Matrix<RationalField> matrix(const View<const double, 2>& m) {
  return exact::from_double(m);
}

/// Exact generators with the same numbers.
exact::Triangle<RationalField> triangle(const View<const double, 3>& p,
                                        const View<const double, 4>& a,
                                        const View<const double, 3>& q) {
  exact::Triangle<RationalField> t;
  for (index_t i = 0; i < p.extent(1); ++i) {
    t.p.push_back(matrix(p.select(0, 0).slice(0, i, i + 1)));
    t.a.push_back(matrix(a.select(0, 0).select(0, i)));
    t.q.push_back(matrix(q.select(0, 0).slice(0, i, i + 1).transposed()));
  }
  exact::detail::close_ends(RationalField(), t);
  return t;
}

Exact twin(const Floating& m) {
  Exact result{{}, triangle(m.p, m.a, m.q), triangle(m.h, m.b.view().transposed(), m.g), {}};
  for (const double d : m.d) result.diagonal.emplace_back(index_t(d));
  return result;
}

template <class M>
exact::Matrix<RationalField> entries(const M& m) {
  const auto dense = m.to_dense();
  return matrix(dense.view().select(0, 0));
}

}  // namespace

TEST_CASE("submatrices and borders") {
  Engine engine(1);
  for (const index_t n : {1, 2, 6, 11}) {
    Floating m(n, {2, 1});
    for (auto* g : {&m.p, &m.q, &m.g, &m.h}) *g = integers<3>(g->extents(), engine);
    for (auto* t : {&m.a, &m.b}) *t = integers<4>(t->extents(), engine);
    m.d = integers<2>(m.d.extents(), engine);
    const Exact e = twin(m);
    CHECK(to_dense(e) == entries(m));

    std::vector<index_t> kept;
    for (index_t i = 0; i < n; i += 1 + i % 3) kept.push_back(i);
    CHECK(to_dense(principal_submatrix(e, kept)) ==
          entries(quasiseparable::principal_submatrix(m, kept)));

    const auto c = integers<3>({1, n, 2}, engine), r = integers<3>({1, 2, n}, engine),
               d = integers<3>({1, 2, 2}, engine);
    const auto exact_border =
        bordered(e, matrix(c.view().select(0, 0)), matrix(r.view().select(0, 0)),
                 matrix(d.view().select(0, 0)));
    const auto border = quasiseparable::bordered(m, c, r, d);
    CHECK(to_dense(exact_border) == entries(border));
    CHECK(exact_border.order() == (n > 1 ? border.order() : Order{2, 2}));
  }
}

TEST_CASE("structured matrices have the orders that their generators promise, exactly") {
  Engine engine(2);
  const index_t n = 9;
  const auto check = [](const auto& m) {
    const auto order = exact::from_dense(entries(m)).order();
    CHECK(order.lower <= m.order().lower);
    CHECK(order.upper <= m.order().upper);
    return order;
  };
  const auto d = integers<2>({1, n}, engine), low = integers<2>({1, n - 1}, engine),
             high = integers<2>({1, n - 1}, engine);
  check(quasiseparable::from_tridiagonal<double>(low, d, high));
  check(quasiseparable::from_companion<double>(d));
  check(quasiseparable::from_arrow<double>(d, low, high, quasiseparable::ArrowHead::first));
  CHECK(check(quasiseparable::from_banded<double>(integers<3>({1, 4, n}, engine), {1, 2})).upper ==
        2);
  const auto u = integers<3>({1, n, 2}, engine), v = integers<3>({1, n, 2}, engine);
  const auto low_rank = quasiseparable::from_low_rank<double>(u, v);
  check(low_rank);
  // Powers of two as transitions: U and V are exact.
  auto scaled = low_rank;
  for (double& x : scaled.a) x = 2;
  for (double& x : scaled.b) x = 0.5;
  const auto parts = quasiseparable::to_low_rank_triangles(scaled);
  const auto all = entries(scaled), left = matrix(parts.u.view().select(0, 0)),
             right = matrix(parts.v.view().select(0, 0)), product = left * right.transposed();
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < i; ++j) CHECK(product(i, j) == all(i, j));
  }
}

TEST_CASE("the inverse of a tridiagonal matrix") {
  Engine engine(3);
  int regular = 0, singular = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const index_t n = 1 + trial % 7;
    const auto d = integers<2>({1, n}, engine), low = integers<2>({1, n - 1}, engine),
               high = integers<2>({1, n - 1}, engine);
    const auto t = entries(quasiseparable::from_tridiagonal<double>(low, d, high));
    const auto expected = exact::inverse(t);
    const auto result = quasiseparable::inverse_of_tridiagonal<double>(low, d, high);
    // Small integers and divisions by powers of two only mislead where rounding hides a zero.
    if (!expected) {
      ++singular;
      if (!result.status.ok()) CHECK(result.status.kind == PivotStatus::Kind::zero);
      continue;
    }
    ++regular;
    REQUIRE(result.status.ok());
    const auto exact_entries = exact::to_double(*expected);
    const auto dense = result.matrix.to_dense();
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        CHECK(std::abs(dense(0, i, j) - exact_entries(i, j)) <= 1e-12);
      }
    }
  }
  CHECK(regular > 50);
  CHECK(singular > 20);
}
