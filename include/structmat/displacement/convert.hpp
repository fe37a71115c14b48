/// \file
/// The same matrix under another displacement operator, and matrices that differ from it by a
/// reversal or a Fourier transform: conversions between Toeplitz-like, Hankel-like,
/// Vandermonde-like and Cauchy-like structure.
///
/// | from, to                            | function                             | what changes     |
/// |-------------------------------------|--------------------------------------|------------------|
/// | Stein, Sylvester                    | to_sylvester, to_stein               | the form         |
/// | corners e, f of shifts              | with_corners                         | rank + 1 each    |
/// | Toeplitz-like, Hankel-like          | reverse_rows, reverse_columns        | J X, X J         |
/// | Toeplitz-like to Vandermonde-like, Vandermonde-like to Cauchy-like | diagonalise_left, diagonalise_right | W_A^-1 X, X W_B |
/// | and back                            | undiagonalise_left, undiagonalise_right | W_A X, X W_B^-1 |
///
/// Eigenvectors: with phi = f^{1/n} (principal value) and z_k = phi exp(2 pi i k / n), the matrix
/// U_kj = z_k^j / sqrt n has U Z_f = diag(z) U, so that Z_f = W diag(z) W^-1 with W = U^-1 and Z_f^T the
/// same with W = U^T. U is unitary for |f| = 1, its condition number is max(|f|, 1 / |f|) at most;
/// one Fourier transform applies it.
///
/// Source: Heinig, Rost, "Algebraic methods for Toeplitz-like matrices and operators", 1984; Pan, "On
/// computations with dense structured matrices", Math. Comp. 55 (1990); Gohberg, Kailath,
/// Olshevsky, Math. Comp. 64 (1995).
#pragma once

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/displacement/generators.hpp"

namespace structmat::displacement {

/// The complex scalar of the same precision.
template <Scalar T>
using complex_t = std::complex<real_t<T>>;

/// X - A X B = G H^T as a Sylvester displacement:
///   A^-1 X - X B = (A^-1 G) H^T, where A is invertible;
///   A X - X B^-1 = -G (B^-T H)^T, where B is;
///   otherwise one corner 0 is first changed to 1, which takes a row or column of X and one order more.
///
/// x: Stein or Sylvester (returned as it is). Cost: O((m + n) r); in the last case O(n log n r) for
/// shifts and O(m n r) for a diagonal with a zero. Accuracy: backward stable times the condition
/// number of the operator that is inverted. Throws ShapeError; DomainError for two diagonals with a
/// zero each.
template <Scalar T>
Generators<T> to_sylvester(const Generators<T>& x);

/// A X - X B = G H^T as X - A^-1 X B = (A^-1 G) H^T. Throws DomainError when A is not invertible.
template <Scalar T>
Generators<T> to_stein(const Generators<T>& x);

/// J X, rows in the opposite order: Z_e on the left becomes Z_e^T, a diagonal is reversed. Exact.
template <Scalar T>
Generators<T> reverse_rows(const Generators<T>& x);

/// X J: Toeplitz-like becomes Hankel-like. Exact.
template <Scalar T>
Generators<T> reverse_columns(const Generators<T>& x);

/// The same X with the corners e' and f' instead of e and f:
///   Z_e' X - X Z_f' = G H^T + (e' - e) e_0 (X^T e_{m-1})^T - (f' - f) (X e_0) e_{n-1}^T
/// and so for transposed shifts.
///
/// x: Sylvester, shifts on both sides. The order grows by 1 for each corner that changes. Cost: a plan
/// and two of its products. Throws ShapeError, DomainError (other operators; an operator that loses
/// part of X).
template <Scalar T>
Generators<T> with_corners(const Generators<T>& x, std::type_identity_t<T> left,
                           std::type_identity_t<T> right);

/// W_A^-1 X for A = Z_e or Z_e^T: the left operator becomes diag(z), z_k = e^{1/m} exp(2 pi i k / m).
///
/// Cost: r transforms of length m. Accuracy: normwise, O(log m eps) for |e| = 1. Throws ShapeError;
/// DomainError where the operator is a diagonal, or e = 0, which has no eigenvectors.
template <Scalar T>
Generators<complex_t<T>> diagonalise_left(const Generators<T>& x);

/// X W_B for B = Z_f or Z_f^T: the right operator becomes diag(z), z_k = f^{1/n} exp(2 pi i k / n).
template <Scalar T>
Generators<complex_t<T>> diagonalise_right(const Generators<T>& x);

/// W_A X for A = shift(e) or shift_transposed(e), whose eigenvalues the left diagonal must hold in the
/// order of diagonalise_left. Throws DomainError when a number differs by more than 8 eps.
template <ComplexScalar T>
Generators<T> undiagonalise_left(const Generators<T>& x, const Operator<T>& a);

/// X W_B^-1.
template <ComplexScalar T>
Generators<T> undiagonalise_right(const Generators<T>& x, const Operator<T>& b);

/// y := W_A^-1 b or W_A b for the eigenvectors of a shift of size n, to take right-hand sides and
/// solutions along. b: (n, k) in, any strides. Throws DomainError as diagonalise_left.
template <ComplexScalar T>
Array<T, 2> to_eigenbasis(const Operator<T>& a, View<const T, 2> b);
template <ComplexScalar T>
Array<T, 2> from_eigenbasis(const Operator<T>& a, View<const T, 2> b);

/// The Cauchy-like matrix with these generators, two diagonals on either side. Exact. Throws
/// ShapeError; DomainError for other operators, Stein included.
template <Scalar T>
CauchyLike<T> to_cauchy_like(const Generators<T>& x);

}  // namespace structmat::displacement
