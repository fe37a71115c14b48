/// \file
/// Every displacement as one of the three kinds of core.hpp, and what plans derive from the generators
/// of each: numbers that products need, where the generators determine the matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/product.hpp"
#include "displacement/cycle.hpp"
#include "displacement/power.hpp"
#include "structmat/core/error.hpp"
#include "structmat/displacement/algebra.hpp"
#include "structmat/displacement/convert.hpp"

namespace structmat::displacement {

/// How X lies to its core: X or X^T = [J] core [J].
struct Orientation {
  bool transposed = false, flips_rows = false, flips_cols = false;

  friend bool operator==(const Orientation&, const Orientation&) = default;

  /// Is op(X) for a transposed or a plain op the transpose of the core?
  bool across(bool transposed_op) const { return transposed_op != transposed; }
  /// Rows of operands of op(X) run the other way.
  bool flips_input(bool transposed_op) const {
    return across(transposed_op) ? flips_rows : flips_cols;
  }
  bool flips_output(bool transposed_op) const {
    return across(transposed_op) ? flips_cols : flips_rows;
  }
  /// The view in which a dense X holds the core.
  template <class V>
  V in_core(V dense) const {
    if (transposed) dense = dense.transposed();
    if (flips_rows) dense = dense.reversed(V::rank - 2);
    if (flips_cols) dense = dense.reversed(V::rank - 1);
    return dense;
  }
};

template <Scalar T>
struct Reduction {
  Generators<T> core;
  Orientation orientation;
};

template <Scalar T>
Reduction<T> reduced(const Generators<T>& given) {
  Reduction<T> all{to_sylvester(given), {}};
  Generators<T>& x = all.core;
  Orientation& o = all.orientation;
  // A shift on the left of a diagonal: the transpose has them the other way round.
  o.transposed = x.displacement.left.kind != OperatorKind::diagonal &&
                 x.displacement.right.kind == OperatorKind::diagonal;
  if (o.transposed) x = transpose(x);
  o.flips_rows = x.displacement.left.kind == OperatorKind::shift_transposed;
  if (o.flips_rows) x = reverse_rows(x);
  o.flips_cols = x.displacement.right.kind == OperatorKind::shift_transposed;
  if (o.flips_cols) x = reverse_columns(x);
  return all;
}

/// Throws DomainError unless Z_e X - X Z_f was solved.
inline void require_determined(bool determined, index_t rows, index_t cols) {
  if (determined) return;
  throw DomainError(
      "displacement::Plan: some m-th root of the left corner is an n-th root of the right one (" +
      std::to_string(rows) + " x " + std::to_string(cols) +
      "): the generators do not determine the matrix; take other corners, 0 on one side serves "
      "every shape");
}

/// Z_e X - X Z_f: g' from (Z_e^n - f) g' = g; row i - n, wrapped round, less f times row i is g_i.
template <Scalar T>
Array<T, 2> divided(const Generators<T>& x) {
  const index_t m = x.rows(), n = x.cols();
  Array<T, 2> result({m, x.order()}, uninitialized);
  if (m == 0 || n == 0) return result;
  const T left = x.displacement.left.corner, right = x.displacement.right.corner;
  const index_t orbits = std::gcd(m, n);
  const auto row = [&](index_t start, index_t t) { return (start + t % m * (n % m)) % m; };
  const auto wraps = [&](index_t i) { return (n - i + m - 1) / m; };  // of row i - n
  for (index_t start = 0; start < orbits; ++start) {
    for (index_t l = 0; l < x.order(); ++l) {
      require_determined(
          solve_cycle<T>(
              m / orbits,
              [&](index_t t) {
                T power{1};
                const index_t i = row(start, t + 1);
                for (index_t w = i >= n ? 0 : wraps(i); w > 0; --w) power = product(power, left);
                return power;
              },
              [&](index_t) { return right; }, [&](index_t t) { return x.g(row(start, t + 1), l); },
              [&](index_t t, const T& v) { result(row(start, t), l) = v; }),
          m, n);
    }
  }
  return result;
}

[[noreturn]] inline void refuse_node(index_t i, index_t cols) {
  throw DomainError("displacement::Plan: node " + std::to_string(i) + " is a root of z^" +
                    std::to_string(cols) +
                    " = corner up to rounding: the generators do not determine that row; take "
                    "another corner");
}

/// D_x X - X Z_f: row i of V / (x^n - f) is weight (1, x, ..., x^{n-1}), base x, where |x| <= 1, and
/// weight (y^{n-1}, ..., y, 1), base y = 1 / x, outside: powers do not overflow.
template <Scalar T>
struct WeightedRow {
  bool inside = true;
  T base{}, weight{};
};
template <Scalar T>
WeightedRow<T> weighted_row(const Generators<T>& x, index_t i) {
  using R = real_t<T>;
  const index_t n = x.cols();
  const T node = x.displacement.left.x[static_cast<std::size_t>(i)],
          corner = x.displacement.right.corner;
  WeightedRow<T> row;
  row.inside = std::abs(node) <= R(1);
  if (n == 0) return row;
  row.base = row.inside ? node : T{1} / node;
  const T top = power(row.base, n);
  const T one = row.inside ? top : T{1}, other = row.inside ? corner : product(corner, top);
  const T gap = one - other;
  const R scale = std::max(std::abs(one), std::abs(other));
  if (!(std::abs(gap) > R(4) * R(n) * epsilon<T> * scale)) refuse_node(i, n);
  row.weight = (row.inside ? T{1} : row.base) / gap;
  return row;
}

/// D_s X - X D_t: throws DomainError where some s_i is some t_j.
template <Scalar T>
void refuse_coincidence(const Displacement<T>& d) {
  const std::vector<T>&s = d.left.x, &t = d.right.x;
  const auto before = [](const T& a, const T& b) {
    return std::pair(std::real(a), std::imag(a)) < std::pair(std::real(b), std::imag(b));
  };
  std::vector<std::size_t> order(t.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return before(t[a], t[b]); });
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto found = std::lower_bound(order.begin(), order.end(), s[i],
                                        [&](std::size_t j, const T& v) { return before(t[j], v); });
    if (found != order.end() && t[*found] == s[i]) {
      throw DomainError("displacement::Plan: s_" + std::to_string(i) + " equals t_" +
                        std::to_string(*found) + ": the generators do not determine that entry");
    }
  }
}

}  // namespace structmat::displacement
