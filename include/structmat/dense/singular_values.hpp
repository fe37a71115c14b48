/// \file
/// Singular values and ranks of many small matrices on a device.
#pragma once

#include <optional>

#include "structmat/core/exec.hpp"
#include "structmat/core/export.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::dense {

/// What a matrix of a batch was, in the status array.
enum class ValuesStatus : int { good = 0, not_finite = 1 };

/// Bytes that singular_values needs. a: as there.
template <Scalar T>
index_t singular_values_workspace_bytes(const View<const T, 3, space::cuda>& a);

/// The singular values of each of a batch of matrices, descending.
///
/// a: (batch, m, n) in, any strides; the shorter side at most 256. sigma: (batch, min(m, n)) out;
/// status: batch out, a ValuesStatus: where a matrix has a NaN or an infinity its values are NaN.
/// A warp (up to 32 columns and 64 rows) or a block takes a matrix, scaled by a power of two, into
/// shared memory; Householder reflections bring a tall one to its R factor, that to bidiagonal form;
/// a thread for each value bisects on the Sturm counts of the Golub-Kahan form. That always
/// converges, at a cost that is the same for all matrices of a shape. Never synchronises and never
/// allocates. A matrix too large for shared memory (from about 165 columns in double, 115 in complex
/// double) lies in the workspace instead, which is slower.
/// Cost: 4/3 n^2 (3 m - n) flops, 2 m n^2 + 2 n^3 where m > 2 n, plus 110 n^2 (double) or 55 n^2
/// (float) steps of the recurrence, in double; one read of a, two of a tall one. Accuracy: |sigma
/// error| <= c n eps sigma_1, c about 1; what is below eps / 8 ||A||_F may be 0. Throws ShapeError,
/// Unsupported (shorter side; an output that is broadcast), DomainError (workspace too small or
/// overlapping), NotAvailable, BackendError.
/// Source: Golub, Kahan, SIAM J. Numer. Anal. B 2 (1965); Barth, Martin, Wilkinson, Numer. Math. 9
/// (1967).
template <Scalar T>
void singular_values(const exec::cuda& e, View<const T, 3, space::cuda> a,
                     View<real_t<T>, 2, space::cuda> sigma, View<int, 1, space::cuda> status);

/// When a singular value counts.
struct RankTolerance {
  /// It exceeds tolerance times the reference. Unset: max(m, n) eps.
  std::optional<double> tolerance{};
  /// Unset: the Frobenius norm of the matrix.
  std::optional<double> reference{};
};

/// Bytes that rank needs. a: as there.
template <Scalar T>
index_t rank_workspace_bytes(const View<const T, 3, space::cuda>& a);

/// The numerical rank of each of a batch of matrices, with the meaning of verify::low_rank.
///
/// a: as for singular_values. ranks: batch out; -1 where a matrix has a NaN or an infinity.
/// smallest_kept, largest_dropped: batch out, relative to the reference, 0: there is none (NaN where
/// the rank is -1); both may be empty views, and are not written then. Cost, accuracy, exceptions: as
/// singular_values; DomainError for a negative or NaN tolerance or reference.
template <Scalar T>
void rank(const exec::cuda& e, View<const T, 3, space::cuda> a, const RankTolerance& tolerance,
          View<int, 1, space::cuda> ranks, View<real_t<T>, 1, space::cuda> smallest_kept = {},
          View<real_t<T>, 1, space::cuda> largest_dropped = {});

}  // namespace structmat::dense
