/// \file
/// T x = b for Hermitian positive definite Toeplitz matrices in one call, with iterative refinement and
/// a report of how good it is.
#pragma once

#include "structmat/toeplitz/hermitian_inverse.hpp"

namespace structmat::toeplitz {

struct HermitianSolveReport {
  PivotStatus status{};                                 ///< of the matrix; x is written if it is ok
  HermitianMethod method = HermitianMethod::automatic;  ///< that was used
  /// ||b - T x|| / (||T|| ||x|| + ||b||), the largest over columns and batch, with the lower bound
  /// ||T||_F / sqrt(n) of ||T||_2 in place of it.
  double backward_error = 0;
  int refinements = 0;  ///< that were made
};

/// x := T^-1 b with an inverse that is there.
///
/// b: (batch, n, k) in, x: (batch, n, k) out, any strides; a batch extent 1 of the inverse or of b is
/// broadcast. b and x must not overlap. Refinement, x += T^-1 (b - T x) at most `refinements` times, ends
/// when the backward error is below 4 eps or does not halve; the best x is kept. It converges where eps
/// cond(T)^2 is well below 1. Cost: one application of the inverse and one product with T, and as much
/// again for each refinement. Workspace: 3 n k numbers a batch entry. Throws ShapeError, DomainError
/// (overlap, refinements < 0).
template <Scalar T>
HermitianSolveReport solve_hermitian(const exec::cpu& e, const HermitianInverse<T>& inverse,
                                     View<const T, 3> b, View<T, 3> x, int refinements = 2);

/// The same from the first column: (batch, n). Nothing is written where the status is not ok.
template <Scalar T>
HermitianSolveReport solve_hermitian(const exec::cpu& e, View<const T, 2> column,
                                     View<const T, 3> b, View<T, 3> x, int refinements = 2,
                                     const HermitianOptions& options = {}) {
  return solve_hermitian(e, HermitianInverse<T>(column, options, e), b, x, refinements);
}

}  // namespace structmat::toeplitz
