/// \file
/// The entrywise (Hadamard) product of quasiseparable matrices.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// C_ij = X_ij Y_ij: every generator is the Kronecker product of those of X and Y, state (l, u) in
/// place l r_y + u, so that orders multiply.
///
/// x, y: of the same size; batch extents 1 are broadcast. Cost, workspace of the result: n r_x r_y
/// multiplications a generator, (r_x r_y)^2 for Dense transitions. Accuracy: one rounding a
/// generator. Throws ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> hadamard(const QuasiseparableView<T, K>& x, const QuasiseparableView<T, K>& y);

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> hadamard(const Quasiseparable<T, K>& x, const Quasiseparable<T, K>& y) {
  return hadamard(x.view(), y.view());
}

}  // namespace structmat::quasiseparable
