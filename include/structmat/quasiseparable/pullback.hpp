/// \file
/// Gradients with respect to the generators of M of losses whose gradient with respect to the
/// entries of M is itself a quasiseparable matrix: no n x n matrix is formed.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/quasiseparable/cotangent.hpp"

namespace structmat::quasiseparable {

/// m_bar += the cotangents of M's generators for the loss Re sum_ij conj(W_ij) M_ij, that is, for W
/// the cotangent of the entries of M.
///
/// m: generators of any uniform kind, in; w: block generators of a matrix of the same size and of
/// batch extent 1 or that of m, in, with any partition and states; m_bar: as in apply_vjp. The batch
/// of the operation is that of m or of w. Generators that M does not depend on are not read, and
/// their cotangents not touched.
/// Between W's triangle (with blocks of m rows, states of size s) and M's (order r) two Gramians of
/// size (m + s) x r are carried along the indices, one from each end. Cost: 12 n (m + s) r flops for
/// Scalar and Diagonal, 6 n (m + s) r^2 for Dense, both triangles together. Workspace: (n / m) s r +
/// m (m + s) r numbers. Threads: over the batch where nothing is summed over it.
/// Accuracy: |error| <= c (n + r + s) eps times the same sums of absolute generators of both.
/// Throws ShapeError; before anything is written.
/// Source: the reverse mode of to_dense, sum by sum, with the columns of W in the coordinates of its
/// states; Dewilde, van der Veen, "Time-Varying Systems and Computations" (1998), chapter 3, for the
/// Gramians.
template <Scalar T, transition::Uniform K>
void pullback(const exec::cpu& e, const QuasiseparableView<T, K>& m,
              const Quasiseparable<T, transition::Block>& w,
              const QuasiseparableCotangent<T, K>& m_bar);

/// m_bar += scale times the cotangents of M's generators for the loss log |det M|, batch entry by
/// batch entry: d log |det M| = Re trace(M^-1 dM), so that the cotangent of the entries is M^-H.
///
/// inverse: M^-1 as block generators, in; scale: the cotangent of the loss. All else as pullback,
/// with workspace for one copy of the inverse.
/// Source: Giles, "Collected Matrix Derivative Results" (2008), section 2.2.4.
template <Scalar T, transition::Uniform K>
void log_determinant_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m,
                         const Quasiseparable<T, transition::Block>& inverse, real_t<T> scale,
                         const QuasiseparableCotangent<T, K>& m_bar);

}  // namespace structmat::quasiseparable
