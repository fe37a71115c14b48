/// \file
/// The exponential of a dense matrix.
#pragma once

#include "structmat/core/export.hpp"
#include "structmat/core/view.hpp"

namespace structmat::dense {

/// E := exp(A) = sum_k A^k / k!.
///
/// a: (n, n) in, finite; e: (n, n) out; any strides; no overlap.
/// Scaling and squaring with the diagonal Pade approximant of degree 13: A is divided by a power of
/// two 2^s until ||A||_1 <= 5.37, where the approximant is exact to rounding, and the result squared s
/// times. Cost: 2 (6 + s) n^3 flops and one solve with n right-hand sides; workspace 8 n^2. Accuracy:
/// normwise, backward error in A about eps for normal A; squaring may lose digits for A far from
/// normal. An exponential beyond the range gives Inf. Throws ShapeError, DomainError (NaN or Inf in a,
/// with its place).
/// Source: Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J.
/// Matrix Anal. Appl. 26 (2005).
template <Scalar T>
void exponential(View<const T, 2> a, View<T, 2> e);

}  // namespace structmat::dense
