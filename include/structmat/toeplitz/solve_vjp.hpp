/// \file
/// Reverse mode of solutions and determinants of general Toeplitz matrices.
#pragma once

#include "structmat/toeplitz/lu.hpp"

namespace structmat {

/// For x = op(T)^-1 b and a loss L with dL = Re <x_bar, dx>:
///   w = op(T)^-H x_bar,  b_bar += w,  lags_bar_l += -sum_{i-j=l} w_i conj(x_j)   (for op = none; the
///   other ones turn and conjugate that).
///
/// f: the factors of T; x: (batch, n, k) in, the solution; x_bar: the same shape, in; lags_bar: (batch
/// or 1, 2n - 1) in/out; b_bar: (batch or 1, n, k) in/out; both may be absent (data() null); a batch
/// extent 1 collects sums. Strides are free. The outputs overlap no input and not each other. Cost: one
/// solution and 2 k + 1 transforms of length 2 n. Accuracy: normwise, that of the solution. Throws
/// ShapeError; DomainError (f broke down, overlap).
template <Scalar T>
void solve_vjp(const exec::cpu& e, const toeplitz::Lu<T>& f, Op op, View<const T, 3> x,
               View<const T, 3> x_bar, View<T, 2> lags_bar, View<T, 3> b_bar);

/// For the sum over the batch of log |det T_b|, weighted by bar(b):
///   lags_bar_l += bar conj(sum_{j-i=l} (T^-1)_ij),
/// from the displacement of the inverse, Z_-1 X - X Z_1 = -(X G) (X^T H)^T, by which an entry of X
/// follows from the one before it on its diagonal.
///
/// m: n x n; bar: batch numbers, in; lags_bar: (batch or 1, 2n - 1) in/out. Cost: factor_lu, five
/// solutions and 10 n^2 flops, O(n) memory. Accuracy: normwise, n eps times the condition number.
/// Throws ShapeError; DomainError (singular, not finite).
template <Scalar T>
void log_determinant_vjp(const exec::cpu& e, const ToeplitzView<T>& m, View<const real_t<T>, 1> bar,
                         View<T, 2> lags_bar);

}  // namespace structmat
