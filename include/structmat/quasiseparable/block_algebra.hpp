/// \file
/// Sums, products and scalings of quasiseparable matrices in block form. Orders are sums or products
/// of orders, whatever the matrices: compress finds what is really needed.
///
/// | operation          | order of the result, lower and upper each | cost for states and blocks of s |
/// |--------------------|-------------------------------------------|---------------------------------|
/// | add, subtract      | r_x + r_y                                 | copies                          |
/// | scale, transpose   | r                                         | copies                          |
/// | multiply           | r_x + r_y                                 | about 40 n s^2 flops            |
/// | hadamard           | r_x r_y                                   | n s^3                           |
///
/// Two matrices need the same size and batch (a batch of 1 is broadcast, to the lower and the upper
/// part alike); the result has the partition of x, and y is brought onto it (with_partition).
/// Accuracy: componentwise, c s eps of what absolute generators give. Each throws ShapeError.
///
/// Source: Eidelman, Gohberg, "On a new class of structured matrices", Integral Equations Operator
/// Theory 34 (1999); Chandrasekaran et al., SIAM J. Matrix Anal. Appl. 27 (2005), sections 6 to 9.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
using Blocks = Quasiseparable<T, transition::Block>;

/// x + y.
template <Scalar T>
Blocks<T> add(const Blocks<T>& x, const Blocks<T>& y);

/// x - y.
template <Scalar T>
Blocks<T> subtract(const Blocks<T>& x, const Blocks<T>& y);

/// alpha m.
template <Scalar T>
Blocks<T> scale(T alpha, const Blocks<T>& m);

/// diag(left) m diag(right). left, right: (n) in, any stride.
template <Scalar T>
Blocks<T> scale_diagonal(View<const T, 1> left, const Blocks<T>& m, View<const T, 1> right);

/// m^T (plain).
template <Scalar T>
Blocks<T> transpose(const Blocks<T>& m);

/// m^H.
template <Scalar T>
Blocks<T> adjoint(const Blocks<T>& m);

/// x y. With F_k = sum over the columns before block k of (state of x's lower triangle)(state of
/// y's upper one)^T, and Z_k the same from the other end, the strictly lower part of block row i is
///   P = [P_x, D_x P_y + Q'_x Z_{i+1} A_y],  A = [A_x, Q_x^T P_y; 0, A_y],
///   Q^T = [Q_x^T D_y + A_x F_i P'_y^T; Q_y^T],
/// primes marking the upper_transposed triangles; the upper part is the lower one of y^T x^T.
template <Scalar T>
Blocks<T> multiply(const Blocks<T>& x, const Blocks<T>& y);

/// x o y, entry by entry: Kronecker products of states, row by row Kronecker products of P and Q.
template <Scalar T>
Blocks<T> hadamard(const Blocks<T>& x, const Blocks<T>& y);

}  // namespace structmat::quasiseparable
