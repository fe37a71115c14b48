/// \file
/// Inclusive generators of a strictly lower triangle: the semiseparable matrix of which it is the
/// part below the diagonal, where there is one of the same order.
///
/// The completion test (completion.hpp) decides, and gives the diagonal. The other direction loses
/// nothing and is index arithmetic (quasiseparable/from_semiseparable.hpp).
#pragma once

#include "structmat/semiseparable/semiseparable.hpp"
#include "structmat/verify/completion.hpp"

namespace structmat::verify {

/// Outcome of extend_to_semiseparable.
template <Scalar T, class K>
struct Extension {
  /// completion.completable says whether there is one, completion.blocking the first index that
  /// forbids it.
  Completion<T> completion;
  /// Of order completion.order; of size 0 unless completion.completable.
  Semiseparable<T, K> matrix;
};

/// S with S_ij = M_ij for i > j, and S_ii of least rank.
///
/// m: generators of one n x n matrix, batch 1; its diagonal and upper triangle are not looked at
/// (for the upper one, pass the transpose). options: as for complete_diagonal, but an order that is
/// not set is that of the triangle.
/// Uniform kinds: [p_i; S_ii], [a_{i-1}, q_{i-1}; 0, 0] and [0; 1] are inclusive generators, one state
/// too many; a sweep that makes what is seen of the states orthonormal and one that keeps the leading
/// singular vectors of what is reached bring them to the order of completion. Block: the generators
/// stay, the diagonal blocks receive S_ii.
/// Cost: O(n r^3), two small singular value decompositions an index (Block: copies), beside
/// complete_diagonal. Accuracy: ||S - M below the diagonal||_F within the tolerance times sqrt(n)
/// times the norm of S. Throws as complete_diagonal.
template <Scalar T, transition::Uniform K>
Extension<T, transition::Dense> extend_to_semiseparable(const Quasiseparable<T, K>& m,
                                                        const CompletionOptions& options = {});
template <Scalar T>
Extension<T, transition::Block> extend_to_semiseparable(
    const Quasiseparable<T, transition::Block>& m, const CompletionOptions& options = {});

}  // namespace structmat::verify
