/// \file
/// The inverse of a tridiagonal matrix T as a quasiseparable matrix of orders (1, 1), in O(n).
///
/// Column j of the inverse solves the rows below j without a right-hand side; these solutions form
/// one family for all j. With (phi_k, psi_k) proportional to the minors (det T(k+1:, k+1:),
/// det T(k:, k:)),
///   phi_k = -psi_{k+1} / s_k,   psi_k = (d_k (-psi_{k+1}) + u_k l_{k+1} phi_{k+1}) / s_k,
///   p_k = phi_k,   a_k = l_{k+1} / s_k,   q_k = a_k f_k / delta_k,
/// and the same from the other end with (f_k, g_k) for the upper part; s_k makes the larger of the
/// two 1. M_kk = f_k phi_k / delta_k with delta_k proportional to det T. Only ratios are stored, and
/// no quotient of minors is formed: minors that vanish are as good as others, off-diagonal entries 0
/// as well.
///
/// Source: Usmani, "Inversion of Jacobi's tridiagonal matrix", Comput. Math. Appl. 27 (1994), for the
/// minors; Meurant, "A review on the inverse of symmetric tridiagonal and block tridiagonal
/// matrices", SIAM J. Matrix Anal. Appl. 13 (1992), for ratios of the definite case.
#pragma once

#include "structmat/core/status.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
struct InverseOfTridiagonal {
  /// Of size 0 unless status.ok().
  Quasiseparable<T, transition::Scalar> matrix;
  PivotStatus status;
};

/// T^-1, for T_{i+1,i} = sub_i, T_ii = diagonal_i, T_{i,i+1} = super_i.
///
/// diagonal: (b or 1, n) in; sub, super: (b or 1, n - 1) in (n = 0: 0), any strides.
/// No leading minor need be different from 0. Status: `zero` with the first index at which the
/// determinant is found to be 0, `not_finite` for NaN or Inf in T.
/// Cost: about 30 n flops; workspace 6 n numbers. Accuracy: each minor is that of a matrix with
/// entries perturbed by a few eps, so errors are at most about n eps times |T^-1| |T| |T^-1|; where
/// products of two entries of T beside the largest one squared underflow, absolute. Throws
/// ShapeError.
template <Scalar T>
InverseOfTridiagonal<T> inverse_of_tridiagonal(View<const T, 2> sub, View<const T, 2> diagonal,
                                               View<const T, 2> super);

/// T^-1 for a Hermitian positive definite T with T_{i+1,i} = sub_i, T_{i,i+1} = conj(sub_i).
///
/// diagonal: (b or 1, n) in, whose imaginary part is not read; sub: (b or 1, n - 1) in (n = 0: 0),
/// any strides. The result is Hermitian to the last bit: g = conj(q), b = conj(a), h = conj(p), d
/// real. With pivots delta_i = d_i - |sub_{i-1}|^2 / delta_{i-1}:
///   b_i = g_i = -conj(sub_i) / delta_i,   h_i = d_i = 1 / delta_i + |g_i|^2 d_{i+1}.
/// Status: `not_positive` with the first pivot that is not, `not_finite`.
/// Cost: about 10 n flops. Accuracy: without cancellation but in the pivots, relative error about n
/// eps times the largest d_i / delta_i. Throws ShapeError.
template <Scalar T>
InverseOfTridiagonal<T> inverse_of_positive_tridiagonal(View<const T, 2> diagonal,
                                                        View<const T, 2> sub);

}  // namespace structmat::quasiseparable
