/// \file
/// Gradients through Hermitian positive definite Toeplitz systems and determinants.
///
/// The independent variables of the matrix are its first column: c_0, which is real, and c_l for l > 0,
/// which stands on diagonal l and conjugated on diagonal -l. With the cotangent M of the matrix as a
/// general one,
///   c_bar_l = sum_i M_{i+l,i} + conj(sum_i M_{i,i+l}) for l > 0,   c_bar_0 = Re sum_i M_ii,
/// so that dL = Re <c_bar, dc>. Gradients are added to.
#pragma once

#include "structmat/toeplitz/hermitian_inverse.hpp"

namespace structmat::toeplitz {

/// Through x = T^-1 b: M = -w x^H with w = T^-1 x_bar.
///
/// x: (batch, n, k) in, the solution; x_bar: (batch, n, k) in; column_bar: (batch, n), b_bar: (batch,
/// n, k), added to. Either may be empty: not wanted. A batch extent 1 of m or x is broadcast, one of
/// column_bar or b_bar beside a larger batch collects the sum. The results must not overlap anything
/// else. Cost: that of a solution, and 2 transforms of length 2 n a right-hand side and one an entry.
/// Workspace: (n, k) an entry. One thread but for the solution. Accuracy: normwise. Throws ShapeError,
/// DomainError (m.status() is not ok), before anything is written.
template <Scalar T>
void solve_vjp(const exec::cpu& e, const HermitianInverse<T>& m, View<const T, 3> x,
               View<const T, 3> x_bar, View<T, 2> column_bar, View<T, 3> b_bar);

/// Through log det T of one batch entry: column_bar_l += 2 log_bar sum_i (T^-1)_{i+l,i}, half of that
/// for l = 0. column_bar: (n). Cost: 2 transforms of length 2 n. Accuracy: normwise. Throws
/// ShapeError, DomainError (that entry is not ok).
template <Scalar T>
void log_determinant_vjp(const HermitianInverse<T>& m, index_t batch, double log_bar,
                         View<T, 1> column_bar);

}  // namespace structmat::toeplitz
