/// \file
/// Reduction of the states of a quasiseparable matrix to what its blocks need.
#pragma once

#include <optional>

#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/quasiseparable/to_block.hpp"

namespace structmat::quasiseparable {

/// What to keep: as in FromDenseOptions.
struct CompressOptions {
  /// ||M - C||_F <= tolerance ||M||_F. Unset: n eps.
  std::optional<double> tolerance{};
  /// ||M - C||_F <= absolute_tolerance, in place of tolerance.
  std::optional<double> absolute_tolerance{};
  /// Fixed largest order, lower and upper.
  std::optional<Order> order{};
  /// Which of the equivalent generators. input_normal: rows of [A, Q^T] are orthonormal, the
  /// singular values of the blocks are in P. balanced: the Gramians of both sides are equal to
  /// diag(sigma), the singular values of the block in front of which the state stands.
  enum class Form { input_normal, balanced };
  Form form = Form::input_normal;
};

/// As of from_dense; errors and norm of a batch are the largest of its entries.
template <Scalar T>
using Compressed = FromDense<T>;

/// C ~ M with states as small as the tolerance allows: with a tolerance at rounding level, the ranks
/// of M's blocks at the block boundaries.
///
/// m: in; its partition is kept. Each triangle takes two sweeps: upward, QR factorisations make the
/// rows isometric, so that the norms of states are norms of contributions; downward, singular value
/// decompositions of [A C, Q^T] meet the singular values of every block H_k, and drop. Row spaces of
/// what is dropped are mutually orthogonal: squared errors add up to truncation_error^2. The squared
/// error allowed is shared out over the rows, half of it to each triangle. Batch entries are reduced
/// each for itself and filled up with zeros to common state sizes.
/// Cost: O(n s^2) for states and blocks of size s; workspace O(n s).
/// Accuracy: ||M - matrix||_F <= truncation_error + rounding_bound. Compressing a result again with
/// the same tolerance changes it by rounding only, or by less than the tolerance.
/// Throws DomainError: a tolerance negative or NaN, an order negative; generators, or products of
/// them, not finite.
/// Source: Dewilde, van der Veen, "Time-Varying Systems and Computations" (1998), chapters 5, 6;
/// Chandrasekaran et al., SIAM J. Matrix Anal. Appl. 27 (2005), section 10.
template <Scalar T>
Compressed<T> compress(const Quasiseparable<T, transition::Block>& m,
                       const CompressOptions& options = {});

/// Generators with uniform transitions are brought into block form first (to_block).
template <Scalar T, transition::Uniform K>
Compressed<T> compress(const QuasiseparableView<T, K>& m, const CompressOptions& options = {}) {
  return compress(to_block(m), options);
}
template <Scalar T, transition::Uniform K>
Compressed<T> compress(const Quasiseparable<T, K>& m, const CompressOptions& options = {}) {
  return compress(to_block(m), options);
}

/// ||M||_F of one batch entry from its generators, O(n s^2). Accuracy: relative, n eps for
/// generators that do not cancel. Throws as compress.
template <Scalar T>
double frobenius_norm(const Quasiseparable<T, transition::Block>& m, index_t batch = 0);
template <Scalar T, transition::Uniform K>
double frobenius_norm(const Quasiseparable<T, K>& m, index_t batch = 0) {
  return frobenius_norm(to_block(m), batch);
}

}  // namespace structmat::quasiseparable
