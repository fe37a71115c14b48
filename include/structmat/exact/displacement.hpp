/// \file
/// Displacement ranks over a field.
///
///   Sylvester: A M - M B        Stein: M - A M B
///
/// | family                   | operators                 | rank |
/// |--------------------------|---------------------------|------|
/// | Toeplitz                 | Z_1 T - T Z_{-1}          | 2    |
/// | Hankel                   | Z_1 H - H Z_{-1}^T        | 2    |
/// | Vandermonde V_ij = x_i^j | diag(x) V - V Z_f         | 1    |
/// | Cauchy C_ij = 1/(s_i - t_j) | diag(s) C - C diag(t)  | 1    |
///
/// Sum: ranks add. Product: rank_{A,B}(X Y) <= rank_{A,C}(X) + rank_{C,B}(Y). Inverse:
/// rank_{B,A}(X^-1) = rank_{A,B}(X), all in Sylvester form.
///
/// Source: Kailath, Kung, Morf, "Displacement ranks of matrices and linear equations", J. Math.
/// Anal. Appl. 68 (1979); Pan, "Structured Matrices and Polynomials" (2001), ch. 4.
#pragma once

#include "structmat/exact/matrix.hpp"

namespace structmat::exact {

enum class Displacement { sylvester, stein };

/// Z_f: ones below the diagonal and f in the upper right corner; for n = 1, [f].
template <Field F>
Matrix<F> down_shift(const F& field, index_t n, const typename F::Element& f) {
  Matrix<F> z(field, n, n);
  for (index_t i = 1; i < n; ++i) z(i, i - 1) = field.from_integer(1);
  if (n > 0) z(0, n - 1) = f;
  return z;
}

/// diag(x)
template <Field F>
Matrix<F> diagonal_matrix(const F& field, const std::vector<typename F::Element>& x) {
  const auto n = static_cast<index_t>(x.size());
  Matrix<F> d(field, n, n);
  for (index_t i = 0; i < n; ++i) d(i, i) = x[i];
  return d;
}

/// A M - M B (sylvester) or M - A M B (stein). m: rows x cols, a: rows x rows, b: cols x cols.
/// O((rows + cols)^2) operations for the operators above. Throws ShapeError.
template <Field F>
Matrix<F> displaced(Displacement kind, const Matrix<F>& a, const Matrix<F>& m, const Matrix<F>& b) {
  if (a.rows() != m.rows() || a.cols() != m.rows() || b.rows() != m.cols() ||
      b.cols() != m.cols()) {
    const auto shape = [](const Matrix<F>& x) {
      return std::to_string(x.rows()) + " x " + std::to_string(x.cols());
    };
    throw ShapeError("exact::displaced: the matrix is " + shape(m) + ", the operators are " +
                     shape(a) + " on its left and " + shape(b) + " on its right");
  }
  // Products pass over the zeros of the left factor only.
  const auto from_right = [&](const Matrix<F>& x) {
    return (b.transposed() * x.transposed()).transposed();
  };
  return kind == Displacement::sylvester ? a * m - from_right(m) : m - from_right(a * m);
}

/// The rank of displaced.
template <Field F>
index_t displacement_rank(Displacement kind, const Matrix<F>& a, const Matrix<F>& m,
                          const Matrix<F>& b) {
  return echelon(displaced(kind, a, m, b)).rank();
}

}  // namespace structmat::exact
