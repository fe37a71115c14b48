/// \file
/// LAPACK under the library's names, for the small factorisations inside structured algorithms.
#pragma once

#include <complex>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/view.hpp"

namespace structmat::dense {

/// A = Q R: on return the upper triangle of A's leading min(m, n) rows holds R; the rest is
/// overwritten.
///
/// a: (m, n) in/out, column-major (stride 1 in dimension 0). Q is not formed.
/// Cost: 2 m n^2 - 2/3 n^3 flops, workspace n * block. Accuracy: columnwise backward stable.
/// Throws Unsupported (strides), BackendError. Source: LAPACK geqrt (recursive panels).
template <Scalar T>
void qr_factor(View<T, 2> a);

/// A = Q R as above, with what form_q needs to give Q.
///
/// a: (m, n) in/out, column-major: R, and the Householder vectors below its diagonal; tau: min(m,
/// n) out, their factors: Q = H_0 H_1 ..., H_l = I - tau_l v_l v_l^H. Source: LAPACK geqrf.
template <Scalar T>
void qr_factor(View<T, 2> a, View<T, 1> tau);

/// The leading columns of the unitary Q of qr_factor.
///
/// a: (m, n) in/out, column-major, m >= n >= the number of reflectors in tau; on entry the
/// Householder vectors in its leading columns, on return the first n columns of Q. Cost: about 4 m
/// n k flops for k reflectors. Throws as qr_factor. Source: LAPACK orgqr, ungqr.
template <Scalar T>
void form_q(View<T, 2> a, View<const T, 1> tau);

/// P A = L U with partial pivoting: L unit lower triangular. A zero pivot is left in U.
///
/// a: (n, n) in/out, column-major; pivots: n out, row l was exchanged with row pivots[l], counted
/// from 1. Cost: 2/3 n^3 flops. Throws Unsupported (strides). Source: LAPACK getrf.
template <Scalar T>
void lu_factor(View<T, 2> a, std::vector<int>& pivots);

/// B := op(A)^-1 B by the factors of lu_factor. b: (n, k) in/out, column-major. Source: LAPACK
/// getrs.
template <Scalar T>
void lu_solve(Op op, View<const T, 2> a, const std::vector<int>& pivots, View<T, 2> b);

/// Thin singular value decomposition A = U diag(s) V^H of which only s and V^H are returned.
///
/// a: (m, n) in, any strides; s: min(m, n) out, descending; vh: (min(m, n), n) out,
/// column-major. Cost: O(m n min(m, n)). Accuracy: |s error| <= c eps s_1. Throws BackendError (no
/// convergence, with the count).
template <Scalar T>
void svd_right(View<const T, 2> a, View<real_t<T>, 1> s, View<T, 2> vh);

/// Singular values only, descending. a: (m, n) in, any strides; s: min(m, n) out.
template <Scalar T>
void singular_values(View<const T, 2> a, View<real_t<T>, 1> s);

/// Eigenvalues of a square matrix, in no order.
///
/// a: (n, n) in, any strides, finite; w: n out, unit stride. Cost: about 10 n^3 flops. Accuracy: those
/// of a matrix at a distance of c n eps ||A||. Throws ShapeError, BackendError (no convergence).
/// Source: LAPACK geev.
template <Scalar T>
void eigenvalues(View<const T, 2> a, View<std::complex<real_t<T>>, 1> w);

/// A := A^-1 by LU factorisation with partial pivoting. False where a pivot is exactly 0; A is
/// overwritten then.
///
/// a: (n, n) in/out, column-major. Cost: 2 n^3 flops. Accuracy: ||error|| <= c n eps cond(A) ||A^-1||.
/// Throws ShapeError, Unsupported (strides). Source: LAPACK getrf, getri.
template <Scalar T>
bool invert(View<T, 2> a);

}  // namespace structmat::dense
