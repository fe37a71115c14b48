/// \file
/// Arithmetic with matrices that are given by their displacement, A X - X B = G H^T.
///
/// | result    | operators                 | generators                             | order        |
/// |-----------|---------------------------|----------------------------------------|--------------|
/// | X + Y     | A, B of both              | [G_X, G_Y], [H_X, H_Y]                 | r_X + r_Y    |
/// | alpha X   | A, B                      | alpha G, H                             | r            |
/// | X^T       | B^T, A^T                  | -H, G                                  | r            |
/// | X^H       | B^H, A^H                  | -conj(H), conj(G)                      | r            |
/// | X Y       | A_X, B_Y                  | [G_X, X G_Y], [Y^T H_X, H_Y]           | r_X + r_Y    |
/// | the same, B_X and A_Y shifts with different corners b, c | A_X, B_Y | and (b - c) X e_0 beside Y^T e_{n-1} | r_X + r_Y + 1 |
/// | X^-1      | B, A                      | -X^-1 G, X^-T H                        | r            |
///
/// Orders add up: compress.hpp takes them down to the rank. Sum, multiple, transpose and adjoint take
/// Stein forms as well, X - A X B = G H^T; products and inverses change them to Sylvester forms.
///
/// Source: Kailath, Kung, Morf, "Displacement ranks of matrices and linear equations", J. Math. Anal.
/// Appl. 68 (1979); Pan, "Structured Matrices and Polynomials" (2001), 1.5; Bini, Pan, "Polynomial and
/// Matrix Computations" (1994), 2.11.
#pragma once

#include <concepts>

#include "structmat/core/op.hpp"
#include "structmat/core/status.hpp"
#include "structmat/displacement/generators.hpp"

namespace structmat::displacement {

/// X + Y. Cost: copies. Exact. Throws ShapeError; DomainError when the operators are not equal (change
/// corners first, convert.hpp).
template <Scalar T>
Generators<T> add(const Generators<T>& x, const Generators<T>& y);
/// X - Y.
template <Scalar T>
Generators<T> subtract(const Generators<T>& x, const Generators<T>& y);
/// alpha X.
template <Scalar T>
Generators<T> scale(std::type_identity_t<T> alpha, const Generators<T>& x);
/// X^T.
template <Scalar T>
Generators<T> transpose(const Generators<T>& x);
/// X^H.
template <Scalar T>
Generators<T> adjoint(const Generators<T>& x);

/// X Y.
///
/// x: (m, l), y: (l, n). The operator on the right of X and the one on the left of Y are the same, or
/// shifts of the same kind with any corners. Cost: plans of both and (r_X + r_Y + 2) products with them:
/// O(r_X r_Y n log n) for Toeplitz-like factors. Accuracy: that of the products. Throws ShapeError;
/// DomainError (operators in the middle that do not match, generators that do not determine a factor).
template <Scalar T>
Generators<T> multiply(const Generators<T>& x, const Generators<T>& y);

/// X^-1, and whether there is one.
template <Scalar T>
struct Inverse {
  Generators<T> generators;
  PivotStatus status{};
};

/// X^-1 by r solves with X and r with X^T.
///
/// x: square. solve(op, b): b := op(X)^-1 b for b of (n, r), op none and transpose, in place; returns a
/// PivotStatus; where that is not usable(), the generators are empty. Accuracy: that of the solves.
/// Throws ShapeError, and what `solve` throws.
template <Scalar T, class Solve>
requires std::is_invocable_r_v<PivotStatus, const Solve&, Op, View<T, 2>> Inverse<T> inverse(
    const Generators<T>& x, const Solve& solve);

/// The same by Gaussian elimination with partial pivoting of the dense matrix: 2/3 n^3 flops and n^2
/// numbers of workspace.
template <Scalar T>
Inverse<T> inverse(const Generators<T>& x);

/// to_sylvester of a matrix that must be square: what an inverse is made of. Throws ShapeError.
template <Scalar T>
Generators<T> to_square_sylvester(const Generators<T>& x);

template <Scalar T, class Solve>
requires std::is_invocable_r_v<PivotStatus, const Solve&, Op, View<T, 2>> Inverse<T> inverse(
    const Generators<T>& x, const Solve& solve) {
  Generators<T> y = to_square_sylvester(x);
  Inverse<T> result;
  result.status = solve(Op::none, y.g.view());
  if (result.status.usable()) result.status = solve(Op::transpose, y.h.view());
  if (!result.status.usable()) return result;
  for (T& v : y.g) v = -v;
  result.generators = {
      {Kind::sylvester, std::move(y.displacement.right), std::move(y.displacement.left)},
      std::move(y.g),
      std::move(y.h)};
  return result;
}

}  // namespace structmat::displacement
