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
template <Scalar T, class Space = space::host>
using Compressed = FromDense<T, Space>;

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

/// The same in device memory, cut to the states of `result` (block_zeros_on_device(m, order)): no
/// allocation, no synchronisation.
///
/// m: in, on the device. result: out, of m's partition and batch, states not above m's largest.
/// reports: out, (batch). Workspace: compress_workspace_bytes.
/// The sweeps of the CPU go from block to block; here Gramians of all boundaries come from a scan, and
/// every boundary is cut for itself to the leading singular vectors of its block of M. What is
/// dropped later is not spared what was dropped before, so the error is at most truncation_error = sqrt(sum
/// of all squared singular values that were dropped) of M's own blocks, which may be larger than the
/// CPU's, and larger than the error. With orders that M's blocks have, all this is rounding. States whose
/// singular value is rounding become zeros. Rows of [A, Q^T] are orthonormal but for what was dropped.
/// Cost: O(n s^2) for states and blocks of size s, in O(log n) rounds; traffic about 20 s numbers a row and
/// triangle. Accuracy: ||M - result||_F <= truncation_error + rounding_bound. NaN in a report: generators or
/// products of them are not finite, and the entry's result is NaN.
/// Throws ShapeError, DomainError (workspace), Unsupported (states above 256), NotAvailable,
/// BackendError.
template <Scalar T>
void compress(const exec::cuda& e, const Quasiseparable<T, transition::Block, space::cuda>& m,
              CompressOptions::Form form, Quasiseparable<T, transition::Block, space::cuda>& result,
              View<TruncationReport, 1, space::cuda> reports);

/// Bytes of workspace for that.
template <Scalar T>
index_t compress_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>& m,
                                 Order order);

/// By tolerance, as on the CPU: as many states as the tolerance asks for, and no more than the order. Allocates, and
/// synchronises once, for the numbers of states; e.workspace is not used. Cost, accuracy as above.
/// Throws DomainError also for generators, or products of them, that are not finite.
template <Scalar T>
Compressed<T, space::cuda> compress(const exec::cuda& e,
                                    const Quasiseparable<T, transition::Block, space::cuda>& m,
                                    const CompressOptions& options = {});

/// Generators with uniform transitions are brought into block form first (to_block).
template <Scalar T, transition::Uniform K>
Compressed<T, space::cuda> compress(const exec::cuda& e,
                                    const QuasiseparableView<T, K, space::cuda>& m,
                                    const CompressOptions& options = {}) {
  return compress(e, to_block(e, m), options);
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
