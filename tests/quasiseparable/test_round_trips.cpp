// Conversions against each other, and there and back.
#include <catch2/catch.hpp>

#include <numeric>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_arrow.hpp"
#include "structmat/quasiseparable/from_banded.hpp"
#include "structmat/quasiseparable/from_companion.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/from_low_rank.hpp"
#include "structmat/quasiseparable/from_semiseparable.hpp"
#include "structmat/quasiseparable/from_toeplitz.hpp"
#include "structmat/quasiseparable/index_sets.hpp"
#include "structmat/quasiseparable/inverse_of_tridiagonal.hpp"
#include "structmat/quasiseparable/to_low_rank.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::quasiseparable;

namespace {

template <Scalar T>
double worst_difference(const Array<T, 3>& a, const Array<T, 3>& b) {
  REQUIRE(a.extents() == b.extents());
  double worst = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(a.data()[i] - b.data()[i]);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst;
}

template <Scalar T, transition::Uniform K>
Array<T, 3> dense_of(const QuasiseparableView<T, K>& m) {
  Array<T, 3> dense({m.batch(), m.size(), m.size()});
  to_dense(m, dense.view());
  return dense;
}

/// to dense and back: the same entries and no larger orders.
template <class M>
void check_through_dense(const M& m) {
  using T = typename M::value_type;
  const auto dense = m.to_dense();
  const auto back = from_dense(View<const T, 2>(dense.view().select(0, 0)));
  CHECK(back.matrix.order().lower <= m.order().lower);
  CHECK(back.matrix.order().upper <= m.order().upper);
  CHECK(worst_difference(back.matrix.to_dense(), dense) <=
        100 * double(m.size()) * double(epsilon<T>) * (1 + back.frobenius_norm));
}

}  // namespace

TEMPLATE_TEST_CASE("structured -> generators -> dense -> generators", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {1, 2, 5, 40}) {
    const auto d = random.array<T, 2>({1, n}), off = random.array<T, 2>({1, n - 1}),
               other = random.array<T, 2>({1, n - 1});
    const auto u = random.array<T, 3>({1, n, 2}), v = random.array<T, 3>({1, n, 2});
    const auto band = random.array<T, 3>({1, 6, n});
    check_through_dense(from_banded<T>(band, {2, 3}));
    check_through_dense(from_banded<T, transition::Block>(band, {2, 3}));
    check_through_dense(from_tridiagonal<T>(off, d, other));
    check_through_dense(from_low_rank<T>(u, v));
    check_through_dense(from_diagonal_plus_low_rank<T>(d, u, v));
    check_through_dense(from_companion<T>(d));
    check_through_dense(from_arrow<T>(d, off, other, ArrowHead::first));
    check_through_dense(from_arrow<T>(d, off, other, ArrowHead::last));
    auto dominant = d;
    for (T& x : dominant) x += T(3);
    const auto inverse = inverse_of_tridiagonal<T>(off, dominant, other);
    REQUIRE(inverse.status.ok());
    check_through_dense(inverse.matrix);
  }
}

TEMPLATE_TEST_CASE("one matrix by several ways", "", float, std::complex<double>) {
  using T = TestType;
  Random random(2);
  const index_t n = 23;
  const auto d = random.array<T, 2>({1, n}), sub = random.array<T, 2>({1, n - 1}),
             super = random.array<T, 2>({1, n - 1});

  // Tridiagonal as a band.
  Array<T, 3> band({1, 3, n});
  for (index_t i = 0; i < n; ++i) {
    band(0, 1, i) = d(0, i);
    if (i + 1 < n) {
      band(0, 2, i) = sub(0, i);
      band(0, 0, i + 1) = super(0, i);
    }
  }
  const auto tridiagonal = from_tridiagonal<T>(sub, d, super).to_dense();
  CHECK(same_bits(from_banded<T>(band, {1, 1}).to_dense(), tridiagonal));
  CHECK(same_bits(from_banded<T, transition::Block>(band, {1, 1}).to_dense(), tridiagonal));

  // An arrow as a diagonal matrix with a border, and the diagonal matrix as its part.
  const auto arrow = from_arrow<T>(d, sub, super, ArrowHead::last);
  Quasiseparable<T, transition::Scalar> inner(n - 1, {0, 0});
  copy(View<const T, 2>(d.view().slice(1, 0, n - 1)), inner.d.view());
  Array<T, 3> column({1, n - 1, 1}), row({1, 1, n - 1}), corner({1, 1, 1});
  std::ranges::copy(super, column.begin());
  std::ranges::copy(sub, row.begin());
  corner(0, 0, 0) = d(0, n - 1);
  CHECK(same_bits(bordered(inner, column, row, corner).to_dense(), arrow.to_dense()));
  CHECK(same_bits(dense_of(principal_submatrix(arrow.view(), 0, n - 1)), inner.to_dense()));

  // Blocks of a block-diagonal matrix, rows and columns of an embedded one.
  const auto x = random_quasiseparable<T, transition::Dense>(7, {2, 1}, 1, 3);
  const auto y = random_quasiseparable<T, transition::Dense>(5, {1, 3}, 1, 4);
  const auto both = block_diagonal(x, y);
  CHECK(same_bits(dense_of(principal_submatrix(both.view(), 0, 7)), x.to_dense()));
  CHECK(same_bits(dense_of(principal_submatrix(both.view(), 7, 12)), y.to_dense()));
  std::vector<index_t> head(7);
  std::iota(head.begin(), head.end(), 0);
  CHECK(same_bits(principal_submatrix(both, head).to_dense(), x.to_dense()));
  CHECK(same_bits(embed(x, head, 12).to_dense(),
                  block_diagonal(x, Quasiseparable<T, transition::Dense>(5, {0, 0})).to_dense()));

  // U V^T -> generators -> U V^T -> generators.
  const auto u = random.array<T, 3>({2, n, 3}), v = random.array<T, 3>({2, n, 3});
  const auto m = from_low_rank<T>(u, v);
  auto parts = to_low_rank_triangles(m);
  for (index_t b = 0; b < 2; ++b) {  // what the triangles do not say
    for (index_t k = 0; k < 3; ++k) {
      parts.u(b, 0, k) = parts.w(b, 0, k);
      parts.v(b, n - 1, k) = parts.x(b, n - 1, k);
    }
  }
  CHECK(same_bits(from_low_rank<T>(parts.u, parts.v).to_dense(), m.to_dense()));

  // Generators -> shifted semiseparable parts -> generators.
  const auto shifted = to_semiseparable(x);
  CHECK(same_bits(from_semiseparable(shifted.lower, shifted.upper, shifted.d).to_dense(),
                  x.to_dense()));
}

TEST_CASE("lags -> state -> matrix -> lags -> state") {
  const index_t n = 400;
  const auto one = from_exponentials<double>({{1, -0.5, 2}, {0.95, -0.7, 0.3}}, 0.25, {{1}, {0.9}});
  const auto m = repeated(one.view(), n);
  Array<double, 1> below({n - 1}), above({n - 1});
  for (index_t l = 1; l < n; ++l) {
    below(l - 1) = entry(m, l, 0);
    above(l - 1) = entry(m, 0, l);
  }
  const auto found = from_toeplitz<double>(below, entry(m, 0, 0), above);
  CHECK(found.lower.order() == 3);
  CHECK(found.upper.order() == 1);
  CHECK(found.lower.within_tolerance);
  CHECK(worst_difference(dense_of(repeated(found.matrix.view(), n)), dense_of(m)) <= 1e-12);

  // (1 - 0.9 z)^-1 by its symbol.
  const auto symbol = from_rational_symbol<double>({{1}, {1, -0.9}}, {});
  Array<double, 1> powers({n - 1});
  for (index_t l = 1; l < n; ++l) powers(l - 1) = entry(repeated(symbol.view(), n), l, 0);
  const auto state = realise<double>(powers);
  CHECK(state.order() == 1);
  CHECK(state.a(0, 0) == Approx(0.9).epsilon(1e-13));
}

TEST_CASE("inverse of the inverse: a tridiagonal matrix again") {
  Random random(5);
  const index_t n = 30;
  Array<double, 2> d({1, n}), sub({1, n - 1}), super({1, n - 1});
  for (auto* part : {&d, &sub, &super}) random.fill(*part);
  for (double& x : d) x += 3;
  const auto inverse = inverse_of_tridiagonal<double>(sub, d, super);
  REQUIRE(inverse.status.ok());
  // T (T^-1 x) = x for all columns of the identity at once.
  Array<double, 2> identity({n, n});
  for (index_t i = 0; i < n; ++i) identity(i, i) = 1;
  const auto product = from_tridiagonal<double>(sub, d, super) * (inverse.matrix * identity);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      CHECK(std::abs(product(i, j) - identity(i, j)) <= 100 * epsilon<double>);
    }
  }
  // Its submatrices are inverses of Schur complements, of order 1 as well.
  const auto part = principal_submatrix(inverse.matrix, std::vector<index_t>{3, 4, 9, 17, 28});
  CHECK(part.order() == Order{1, 1});
}
