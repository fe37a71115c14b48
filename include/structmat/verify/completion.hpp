/// \file
/// Completion of a strictly lower triangle by a diagonal, with margins.
///
/// Each block M(k:n, 0:k+1) contains one entry of the diagonal, in its corner:
///   [ r  d_k ]
///   [ G   c  ],  H_k = [r; G],  H_{k+1} = [G, c],
/// so the entries of the diagonal are independent of each other, and the least rank of the block is
/// rho_k = rank H_k + rank H_{k+1} - rank G. The triangle is that of an N-semiseparable matrix iff
/// rho_k <= N for all k.
///
/// Source: Woerdeman, "The lower order of lower triangular operators and minimal rank extensions",
/// Integral Equations Operator Theory 10 (1987).
#pragma once

#include <optional>
#include <vector>

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::verify {

struct CompletionOptions {
  /// N; unset: the least with which a diagonal exists.
  std::optional<index_t> order{};
  /// A singular value counts above this times the Frobenius norm of the triangle. Unset: n eps.
  std::optional<double> tolerance{};
};

/// Which values an entry of the diagonal may have.
enum class Freedom {
  forced,  ///< one: any other makes the rank of its block N + 1
  unique,  ///< one gives the least rank, any other one more, which N allows
  free     ///< all give the same rank
};

/// d_k and the ranks that decide on it; T: a scalar, or an element of an exact field.
template <class T>
struct DiagonalEntry {
  Freedom freedom = Freedom::free;
  T value{};                ///< of the least rank; 0 where all are
  index_t rank_left = 0;    ///< of H_k
  index_t rank_below = 0;   ///< of H_{k+1}
  index_t rank_common = 0;  ///< of G

  index_t least_rank() const { return rank_left + rank_below - rank_common; }
};

template <Scalar T>
struct Completion {
  bool completable = true;            ///< some diagonal makes all ranks N at most
  index_t order = 0;                  ///< N
  std::optional<index_t> blocking{};  ///< the first k for which no d_k does
  index_t minimal_order = 0;          ///< the least N with which a diagonal exists
  /// The least rank of a matrix with this strictly lower triangle: it is that of U V^T for n x N
  /// factors iff N is at least this.
  index_t representable_order = 0;
  std::vector<DiagonalEntry<T>> entries{};
  /// Over all blocks H_k and G, relative to the norm; 0 where there is none.
  double smallest_kept = 0, largest_dropped = 0;
  double tolerance = 0;
  double frobenius_norm = 0;  ///< of the triangle
};

/// Is the strictly lower triangle of m that of an N-semiseparable matrix, and with which diagonal?
/// The diagonal and the upper triangle are not looked at.
///
/// m: generators of one n x n matrix, batch 1.
/// QR square roots of what the rows from k on see of a state, and of what the columns before k
/// reach, bring H_k and G to matrices of about N rows; then one singular value decomposition each.
/// Ranks are those at the tolerance. Where they give rho_k > N only because a singular value of G
/// fell below it, d_k = r G^+ c with G of rank N is tried: k blocks unless that brings all but N
/// singular values of its block below the tolerance.
/// Cost: O(n N^3); workspace O(n N^2 / 64). Accuracy: singular values within c n eps ||triangle||_F;
/// a value d_k within that over the smallest singular value kept of its G, squared, times ||r|| ||c||.
/// Throws ShapeError (batch; generators that do not fit together), DomainError (a generator that is
/// not finite; a negative or NaN tolerance or order).
template <Scalar T, class K>
Completion<T> complete_diagonal(const Quasiseparable<T, K>& m,
                                const CompletionOptions& options = {});

/// The same for a dense matrix, through from_dense at an eighth of the tolerance.
///
/// m: (n, n) in, any strides, finite. Cost: O(n^2 N + n N^3). Throws ShapeError, DomainError (NaN or
/// Inf, with its place; a negative or NaN tolerance or order).
template <Scalar T>
Completion<T> complete_diagonal(View<const T, 2> m, const CompletionOptions& options = {});

template <Scalar T>
Completion<T> complete_diagonal(const Array<T, 2>& m, const CompletionOptions& options = {}) {
  return complete_diagonal(m.view(), options);
}

}  // namespace structmat::verify
