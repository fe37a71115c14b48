/// \file
/// T x = b for square Toeplitz and Hankel matrices in one call: factorisation, substitution, iterative
/// refinement, and a report of how good it is.
#pragma once

#include "structmat/toeplitz/lu.hpp"

namespace structmat {

namespace toeplitz {

enum class SolveMethod {
  /// hermitian where the matrix is Hermitian with a positive diagonal and turns out to be positive
  /// definite with a backward error at rounding level; otherwise whatever is faster: dense below a
  /// measured size, lu above.
  automatic,
  dense,     ///< LU of the n x n matrix by LAPACK
  lu,        ///< LU of the Cauchy-like image (lu.hpp): O(n^2), O(n) memory
  hermitian  ///< the Gohberg-Semencul formula of a positive definite matrix (hermitian_inverse.hpp)
};

struct SolveOptions {
  SolveMethod method = SolveMethod::automatic;
  /// Steps of iterative refinement at most; they end when the backward error is at rounding level or
  /// does not halve.
  int refinements = 2;
};

struct SolveReport {
  SolveMethod method = SolveMethod::dense;  ///< that gave the solution
  PivotStatus status{};                     ///< of its factorisation; x is written if it is usable
  double growth = 1;                        ///< of lu
  /// ||b - T x|| / (||T|| ||x|| + ||b||), the largest over columns and batch, with a lower bound of
  /// ||T||_2 in place of it: ||T||_F / sqrt(n) or ||b|| / ||x||.
  double backward_error = 0;
  int refinements = 0;  ///< that were made
};

/// What SolveMethod::automatic takes for n x n matrices that are not positive definite.
template <Scalar T>
SolveMethod solve_method(index_t n);

}  // namespace toeplitz

/// x := op(T)^-1 b, op(H)^-1 b.
///
/// m: n x n, any regular matrix; b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent
/// 1 of m or b is broadcast. b and x must not overlap. A Hankel matrix goes by H = T J, J the exchange
/// of columns. Cost: lu about 80 n^2 flops and 4 n^2 more for each right-hand side (real arithmetic
/// counted; real matrices too), O(n) memory; hermitian O(n log^2 n); dense 2/3 n^3 and n^2 numbers; to
/// solve again, keep factor_lu or a HermitianInverse. Threads: lu over the batch, dense those of BLAS. Accuracy: backward error about c eps
/// after refinement. Real matrices have real solutions. Breakdown (singular matrix, NaN or Inf in m)
/// is in the report, and leaves x as it was when the status is not usable. Throws ShapeError (also
/// for m x n with m != n: least squares are not offered), DomainError (overlap; `hermitian` for another
/// matrix).
template <Scalar T>
toeplitz::SolveReport solve(const exec::cpu& e, const ToeplitzView<T>& m, Op op, View<const T, 3> b,
                            View<T, 3> x, const toeplitz::SolveOptions& options = {});
template <Scalar T>
toeplitz::SolveReport solve(const exec::cpu& e, const HankelView<T>& m, Op op, View<const T, 3> b,
                            View<T, 3> x, const toeplitz::SolveOptions& options = {});
/// x := op(T)^-1 b for a batch of small systems on the device, by LU of the Cauchy-like images, a block of
/// threads for each, without refinement.
///
/// m: n x n; b: (batch, n, k) in, x: (batch, n, k) out, any strides; a batch extent 1 of m or b is
/// broadcast; b and x must not overlap; status: (batch of m) out, as of cauchy::factor_lu on the device, with
/// solutions NaN where it is not usable. e.workspace holds solve_workspace_bytes(m, k, batch of b): 4 n^2
/// real numbers for each matrix, for up to 1 GiB of them at a time. Enqueues on e.stream, never allocates
/// or synchronises. Cost: 42 n^2 flops, transforms as sums with 16 n^2, 8 n^2 and 32 n^2 for each
/// right-hand side; n up to about 1024. Differences of roots of unity come from a table of sines, which
/// has all their digits: backward error about growth n eps. Throws NotAvailable; ShapeError, DomainError
/// (overlap, workspace too small), Unsupported (a broadcast output), BackendError.
template <Scalar T>
void solve(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
           View<PivotStatus, 1, space::cuda> status);
template <Scalar T>
index_t solve_workspace_bytes(const ToeplitzView<T, space::cuda>& m, index_t k, index_t batch = 1);

template <Scalar T, detail::Operand B, class X>
toeplitz::SolveReport solve(const exec::cpu& e, const Toeplitz<T>& m, const B& b, X&& x,
                            const toeplitz::SolveOptions& options = {}) {
  return solve(e, m.view(), Op::none, detail::input<T>(b), detail::output<T>(x), options);
}
template <Scalar T, detail::Operand B, class X>
toeplitz::SolveReport solve(const exec::cpu& e, const Hankel<T>& m, const B& b, X&& x,
                            const toeplitz::SolveOptions& options = {}) {
  return solve(e, m.view(), Op::none, detail::input<T>(b), detail::output<T>(x), options);
}

/// det T or det H of one batch entry, as a logarithm and a sign. Cost: as factor_lu; of a Hermitian
/// positive definite Toeplitz matrix O(n log^2 n). Accuracy: see toeplitz::log_determinant. Throws ShapeError, DomainError (not finite).
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const ToeplitzView<T>& m, index_t batch = 0);
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const HankelView<T>& m, index_t batch = 0);

}  // namespace structmat
