/// \file
/// Vandermonde systems: V a = f is interpolation (coefficients a of the polynomial with values f at
/// the nodes), V^T w = b finds weights w with given moments b.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/operand.hpp"
#include "structmat/core/status.hpp"
#include "structmat/vandermonde/apply_vjp.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat {

namespace vandermonde {

/// In which order nodes enter the divided differences; the solution does not depend on it but for
/// rounding.
enum class NodeOrder {
  automatic,  ///< by_modulus for real nodes of one sign, leja otherwise
  by_modulus,
  leja,  ///< the largest first, then always the one with the largest product of distances
  given
};

struct SolveOptions {
  NodeOrder order = NodeOrder::automatic;
};

struct SolveReport {
  PivotStatus status{};               ///< zero: index is that of a node that is there before
  NodeOrder order = NodeOrder::leja;  ///< that was taken (of the last batch entry)
};

}  // namespace vandermonde

/// x := op(V)^-1 b.
///
/// m: n x n; b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent 1 of m or b is
/// broadcast. b and x must not overlap.
/// Cost: 5/2 n^2 k flops, of which n^2 k / 2 are divisions, and n^2 for the order. Workspace: O(n)
/// per thread. Threads: over columns and batch; the result does not depend on their number.
/// Accuracy: for real nodes 0 <= x_1 < x_2 < ... in order |error| <= 5 n eps |V^-1| |b| + O(eps^2):
/// independent of the condition number where b alternates in sign, and small where the solution is
/// large. In general the backward error may grow with n; monomials are a bad basis on [-1, 1] (the
/// condition number is at least about (1 + sqrt(2))^n / n there), whatever the algorithm.
/// Equal nodes (kind zero), and NaN or Inf in m or b (not_finite, with the row) are in the report, and leave
/// all of x as it was. Throws ShapeError (not square, or operands that do not fit), DomainError (overlap).
/// Source: Bjorck, Pereyra, "Solution of Vandermonde systems of equations", Math. Comp. 24 (1970);
/// Higham, "Error analysis of the Bjorck-Pereyra algorithms for solving Vandermonde systems", Numer.
/// Math. 50 (1987); Reichel, "Newton interpolation at Leja points", BIT 30 (1990).
template <Scalar T>
vandermonde::SolveReport solve(const exec::cpu& e, const VandermondeView<T>& m, Op op,
                               View<const T, 3> b, View<T, 3> x,
                               const vandermonde::SolveOptions& options = {});
template <Scalar T, detail::Operand B, class X>
vandermonde::SolveReport solve(const exec::cpu& e, const Vandermonde<T>& m, const B& b, X&& x,
                               const vandermonde::SolveOptions& options = {}) {
  return solve(e, m.view(), Op::none, detail::input<T>(b), detail::output<T>(x), options);
}

/// det V = prod_{i < j} (x_j - x_i) of one batch entry, by its logarithm.
///
/// Cost: n^2 / 2 products. Accuracy: log_abs n^2 eps / 2, sign the same in modulus. Equal nodes give
/// sign 0 and log_abs -inf, NaN in a node NaN. Throws ShapeError (not square, no such batch entry).
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const VandermondeView<T>& m,
                                  index_t batch = 0);
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const Vandermonde<T>& m, index_t batch = 0) {
  return log_determinant(e, m.view(), batch);
}

}  // namespace structmat
