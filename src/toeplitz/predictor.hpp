/// \file
/// Prediction polynomials of a Hermitian Toeplitz matrix T with c_0 = 1 and |c_l| < 1.
///
/// a is monic of degree k with T_{k+1} a = d_k e_0 for the leading block of k + 1 rows, a^ the same
/// with conjugated coefficients in the opposite order. With rho_{k+1} the reflection coefficient,
///   a_{k+1} = a_k + rho z a^_k,   a^_{k+1} = conj(rho) a_k + z a^_k.
/// T a and T a^ beyond the rows that are settled, (u_0, u_1, ...) = (T a)_{k+1+i} and
/// (v_0, v_1, ...) = (T z^{-k} a^)_{k+i}, follow the same recursion, and rho_{k+1} = -u_0 / v_0.
#pragma once

#include "toeplitz/pivots.hpp"
#include "toeplitz/planar.hpp"

namespace structmat::toeplitz {

// In all of these: lags: n >= 1 in; a: the n coefficients out, as far as pivots are positive (those
// of the last leading block with positive pivots).

/// Inner products give the reflection coefficients (Levinson, Durbin). n^2 multiply-adds twice.
template <Scalar T>
void levinson(const T* lags, index_t n, Pivots& pivots, T* a);

/// Recursions give u and v (Schur). n^2 multiply-adds twice, without sums over vectors.
template <Scalar T>
void schur(const T* lags, index_t n, Pivots& pivots, T* a);

}  // namespace structmat::toeplitz
