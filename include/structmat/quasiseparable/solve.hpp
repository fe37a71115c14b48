/// \file
/// M x = b in one call: factorisation, substitution, refinement, and a report of how good it is.
#pragma once

#include <optional>

#include "structmat/quasiseparable/lu.hpp"
#include "structmat/quasiseparable/qr.hpp"

namespace structmat {

namespace quasiseparable {

/// qr: unitary transformations, backward stable for every matrix (qr.hpp). lu: no pivots between
/// blocks (lu.hpp), faster; if it breaks down or its factors grow beyond the limit, qr takes over,
/// and the report says so.
enum class Method { qr, lu };

struct SolveOptions {
  Method method = Method::qr;
  double growth_limit = 1e3;  ///< of lu
  /// Steps of iterative refinement at most; they end when the backward error is at rounding level or
  /// does not halve.
  int refinements = 2;
  bool condition = false;  ///< estimate the condition number too
};

struct SolveReport {
  Method method = Method::qr;  ///< that gave the solution
  PivotStatus status{};        ///< of its factorisation; x is written if it is usable
  double growth = 1;           ///< of lu, also when qr took over
  /// ||b - M x|| / (||M|| ||x|| + ||b||), the largest over columns and batch, with a lower bound of
  /// ||M||_2 in place of it.
  double backward_error = 0;
  int refinements = 0;                ///< that were made
  std::optional<double> condition{};  ///< estimate of ||M||_1 ||M^-1||_1, the largest of the batch
};

}  // namespace quasiseparable

/// x := op(M)^-1 b.
///
/// m: n x n, any transitions; b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent
/// 1 of m or b is broadcast. b and x must not overlap. Cost: O(n s^2 + n s k) for blocks of s rows;
/// to solve again, keep the factors (qr.hpp). Accuracy: backward error about c eps after refinement.
/// Breakdown (singular matrix, NaN or Inf in m) is in the report, and leaves x as it was when the
/// status is not usable; with near_singular, x is written and solves a nearby system. Throws
/// ShapeError; DomainError (overlap).
template <Scalar T>
quasiseparable::SolveReport solve(const exec::cpu& e, const Quasiseparable<T, transition::Block>& m,
                                  Op op, View<const T, 3> b, View<T, 3> x,
                                  const quasiseparable::SolveOptions& options = {});
template <Scalar T, transition::Uniform K>
quasiseparable::SolveReport solve(const exec::cpu& e, const QuasiseparableView<T, K>& m, Op op,
                                  View<const T, 3> b, View<T, 3> x,
                                  const quasiseparable::SolveOptions& options = {}) {
  return solve(e, quasiseparable::to_solver_blocks(m), op, b, x, options);
}
template <Scalar T, class K, detail::Operand B, class X>
quasiseparable::SolveReport solve(const exec::cpu& e, const Quasiseparable<T, K>& m, const B& b,
                                  X&& x, const quasiseparable::SolveOptions& options = {}) {
  return solve(e, m.view(), Op::none, detail::input<T>(b), detail::output<T>(x), options);
}

namespace quasiseparable {

/// A lower bound of ||M||_1 ||M^-1||_1, seldom below a tenth of it, by products with M and its
/// factors.
///
/// m, f: of one matrix, `batch` its entry. Cost: a few products and solutions. Throws ShapeError,
/// DomainError (f broke down). Source: Higham, Tisseur, "A block algorithm for matrix 1-norm
/// estimation", SIAM J. Matrix Anal. Appl. 21 (2000); LAPACK lacn2.
template <Scalar T>
double condition_estimate(const Quasiseparable<T, transition::Block>& m, const Qr<T>& f,
                          index_t batch = 0);
template <Scalar T>
double condition_estimate(const Quasiseparable<T, transition::Block>& m, const Lu<T>& f,
                          index_t batch = 0);

}  // namespace quasiseparable
}  // namespace structmat
