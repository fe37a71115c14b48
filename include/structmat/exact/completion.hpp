/// \file
/// Completion of a strictly lower triangle: by a diagonal, and by everything else.
///
/// Each block M(k:n, 0:k+1) contains one entry of the diagonal, in its corner:
///   [ r  d_k ]
///   [ G   c  ],  H_k = [r; G],  H_{k+1} = [G, c];
/// so the entries of the diagonal are independent of each other, and the least rank of the block is
/// rho_k = rank H_k + rank H_{k+1} - rank G.
///
/// Source: Woerdeman, "The lower order of lower triangular operators and minimal rank extensions",
/// Integral Equations Operator Theory 10 (1987).
#pragma once

#include "structmat/exact/quasiseparable.hpp"
#include "structmat/exact/rank_profile.hpp"
#include "structmat/verify/completion.hpp"

namespace structmat::exact {

using verify::Freedom;
template <Field F>
using DiagonalEntry = verify::DiagonalEntry<typename F::Element>;

/// Outcome of complete_diagonal.
template <Field F>
struct Completion {
  bool completable = true;            ///< some diagonal makes all ranks N at most
  std::optional<index_t> blocking{};  ///< the first k for which no d_k does
  index_t minimal_order = 0;          ///< the least N with which a diagonal exists
  std::vector<DiagonalEntry<F>> entries{};

  /// The values of least rank, which make the order minimal.
  std::vector<typename F::Element> diagonal() const {
    std::vector<typename F::Element> values;
    for (const auto& entry : entries) values.push_back(entry.value);
    return values;
  }
};

/// Is the strictly lower triangle that of a matrix all of whose blocks M(k:n, 0:k+1) have rank at
/// most `order`? Over generators: with minimal states, rank G is the rank of a_k, and where that is
/// invertible the unique value is p_k a_k^-1 q_k. O(n s^3) operations. Throws ShapeError,
/// DomainError (a negative order).
template <Field F>
Completion<F> complete_diagonal(const F& field, const Triangle<F>& lower, index_t order) {
  constexpr auto operation = "exact::complete_diagonal";
  detail::require_consistent(operation, "lower", lower, lower.size());
  if (order < 0) {
    throw DomainError(std::string(operation) + ": the order asked for is " + std::to_string(order) +
                      ", it must not be negative");
  }
  const Triangle<F> t = detail::minimal(field, lower);
  Completion<F> result;
  for (index_t k = 0; k < t.size(); ++k) {
    const Echelon<F> e = echelon(t.a[k]);
    DiagonalEntry<F> entry{Freedom::free, field.from_integer(0), t.a[k].cols(), t.a[k].rows(),
                           e.rank()};
    if (entry.rank_left == e.rank() && entry.rank_below == e.rank()) {
      entry.freedom = e.rank() == order ? Freedom::forced : Freedom::unique;
      entry.value = (t.p[k] * e.transform * t.q[k])(0, 0);
    }
    result.minimal_order = std::max(result.minimal_order, entry.least_rank());
    if (entry.least_rank() > order && !result.blocking) result.blocking = k;
    result.entries.push_back(std::move(entry));
  }
  result.completable = !result.blocking;
  return result;
}

/// The same for the strictly lower triangle of m; other entries are not read. O(n^2 s^2)
/// operations. Throws ShapeError, DomainError.
template <Field F>
Completion<F> complete_diagonal(const Matrix<F>& m, index_t order) {
  detail::require_square("exact::complete_diagonal", m);
  return complete_diagonal(m.field(), detail::strictly_lower(m), order);
}

/// The least rank of a matrix whose strictly lower triangle (Blocks::with_diagonal: lower triangle)
/// is that of m: the least N for which that triangle is the one of U V^T with n x N factors. It is
/// the sum of the ranks of all blocks less those of the intersections of neighbours, and may exceed
/// the order by far. O(n^2 s^2) operations. Throws ShapeError.
template <Field F>
index_t representable_order(const Matrix<F>& m, Blocks blocks) {
  detail::require_square("exact::representable_order", m);
  const Triangle<F> t = detail::lower_generators(m, blocks == Blocks::with_diagonal);
  index_t sum = 0;
  for (index_t k = 1; k < t.size(); ++k) sum += t.a[k].cols() - echelon(t.a[k]).rank();
  return sum;
}

}  // namespace structmat::exact
