/// \file
/// C x = b for square Cauchy and Cauchy-like matrices in one call: factorisation, substitution,
/// iterative refinement, and a report of how good it is.
#pragma once

#include "structmat/cauchy/apply.hpp"
#include "structmat/cauchy/lu.hpp"

namespace structmat {

namespace cauchy {

struct SolveOptions {
  /// Steps of iterative refinement at most; they end when the backward error is at rounding level or
  /// does not halve. Cauchy matrices are not refined: their factors are more accurate than a residual in
  /// working precision can tell.
  int refinements = 2;
};

struct SolveReport {
  PivotStatus status{};  ///< of the factorisation; x is written if it is usable
  double growth = 1;     ///< as Lu::growth
  /// ||b - C x|| / (||C|| ||x|| + ||b||), the largest over columns and batch, with a lower bound of
  /// ||C||_2 in place of it: ||C z|| / ||z|| for a vector z of signs, or ||b|| / ||x||.
  double backward_error = 0;
  int refinements = 0;  ///< that were made
};

}  // namespace cauchy

/// x := op(C)^-1 b.
///
/// m: n x n; b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent 1 of m or b is
/// broadcast. b and x must not overlap. Cost: factor_lu, cauchy::solve and two products of O(n^2 r);
/// O(n r) memory; to solve again, keep factor_lu. Threads: over the batch. Accuracy: Cauchy-like,
/// backward error about c eps after refinement. Cauchy: that of substitution with factors of which
/// every entry has a relative error of about n eps, so that solutions of ill-conditioned systems keep
/// digits that the condition number does not promise. Breakdown (repeated nodes of a Cauchy matrix, a singular Cauchy-like one, NaN or Inf in m)
/// is in the report, and leaves x as it was when the status is not usable. Throws ShapeError (also
/// for m x n with m != n), DomainError (overlap; some s_i equals some t_j).
template <Scalar T>
cauchy::SolveReport solve(const exec::cpu& e, const CauchyLikeView<T>& m, Op op, View<const T, 3> b,
                          View<T, 3> x, const cauchy::SolveOptions& options = {});
template <Scalar T>
cauchy::SolveReport solve(const exec::cpu& e, const CauchyView<T>& m, Op op, View<const T, 3> b,
                          View<T, 3> x, const cauchy::SolveOptions& options = {});
/// x := op(C)^-1 b for a batch of small systems on the device, without refinement.
///
/// m, b, x: as above, batch as in cauchy::solve; status: (batch of m) out. e.workspace holds
/// solve_workspace_bytes(m, k, batch of b): the factors of up to 1 GiB of matrices at a time, which are
/// worked through in the order of the batch. Enqueues on e.stream, never allocates or synchronises. Cost,
/// limits and accuracy: cauchy::factor_lu and cauchy::solve on the device; systems whose status is not
/// usable have solutions NaN. Throws NotAvailable; ShapeError, DomainError (overlap, workspace too small),
/// Unsupported (a broadcast output), BackendError.
template <Scalar T>
void solve(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
           View<PivotStatus, 1, space::cuda> status);
template <Scalar T>
void solve(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
           View<PivotStatus, 1, space::cuda> status);
template <Scalar T>
index_t solve_workspace_bytes(const CauchyLikeView<T, space::cuda>& m, index_t k,
                              index_t batch = 1);
template <Scalar T>
index_t solve_workspace_bytes(const CauchyView<T, space::cuda>& m, index_t k, index_t batch = 1);

template <Scalar T, detail::Operand B, class X>
cauchy::SolveReport solve(const exec::cpu& e, const CauchyLike<T>& m, const B& b, X&& x,
                          const cauchy::SolveOptions& options = {}) {
  return solve(e, m.view(), Op::none, detail::input<T>(b), detail::output<T>(x), options);
}
template <Scalar T, detail::Operand B, class X>
cauchy::SolveReport solve(const exec::cpu& e, const Cauchy<T>& m, const B& b, X&& x,
                          const cauchy::SolveOptions& options = {}) {
  return solve(e, m.view(), Op::none, detail::input<T>(b), detail::output<T>(x), options);
}

}  // namespace structmat
