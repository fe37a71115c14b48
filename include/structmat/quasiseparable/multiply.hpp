/// \file
/// The product of two quasiseparable matrices with uniform transitions, and its reverse mode.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/quasiseparable/cotangent.hpp"

namespace structmat::quasiseparable {

/// C = X Y, of order (lower_x + lower_y, upper_x + upper_y), with Dense transitions:
///
///   f_{i+1} = a_x f_i b_y + q_x g_y^T        (f_0 = 0, all generators at index i)
///   z_{i-1} = b_x z_i a_y + h_x p_y^T        (z_{n-1} = 0)
///   d = d_x d_y + p_x^T f h_y + g_x^T z q_y
///   p = [p_x; d_x p_y + a_y^T z^T g_x],  a = [a_x, q_x p_y^T; 0, a_y],  q = [d_y q_x + a_x f h_y; q_y]
///   g = [g_x; d_x g_y + b_y^T f^T p_x],  b = [b_x, h_x g_y^T; 0, b_y],  h = [d_y h_x + b_x z q_y; h_y]
///
/// x, y: of the same size; batch extents 1 are broadcast. Generators that M does not depend on are
/// neither read nor given (they are 0). Cost: with r the largest order, about 24 n r^2 flops for
/// Scalar and Diagonal, 8 n r^3 + 16 n r^2 for Dense, and 2 n (2 r)^2 numbers of the result.
/// Workspace: O(r^2). Threads: over the batch.
/// Accuracy: componentwise in the sense |error| <= c (n + r) eps times the same formulas with
/// absolute generators. Throws ShapeError.
/// Source: Eidelman, Gohberg (1999), section 5; Eidelman, Gohberg, Haimovici, "Separable Type
/// Representations of Matrices and Fast Algorithms", vol. 1 (2014), chapter 17.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Dense> multiply(const exec::cpu& e, const QuasiseparableView<T, K>& x,
                                              const QuasiseparableView<T, K>& y);

/// x_bar, y_bar += the cotangents of the generators of X and Y that belong to c_bar, the cotangents
/// of those of C = X Y.
///
/// c_bar: (batch, n, ...) of the orders of C, in, a batch extent 1 is broadcast; x_bar, y_bar: as in
/// apply_vjp, each part may be absent, a batch extent 1 collects the sum over the batch. Cost: about
/// three times that of multiply. Workspace: all f_i (then all z_i): n r^2 numbers a thread. Threads:
/// over the batch where nothing is summed over it. Accuracy as multiply. Throws ShapeError before
/// anything is written.
template <Scalar T, transition::Uniform K>
void multiply_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& x,
                  const QuasiseparableView<T, K>& y,
                  const QuasiseparableView<T, transition::Dense>& c_bar,
                  const QuasiseparableCotangent<T, K>& x_bar,
                  const QuasiseparableCotangent<T, K>& y_bar);

template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Dense> multiply(const exec::cpu& e, const Quasiseparable<T, K>& x,
                                              const Quasiseparable<T, K>& y) {
  return multiply(e, x.view(), y.view());
}

}  // namespace structmat::quasiseparable
