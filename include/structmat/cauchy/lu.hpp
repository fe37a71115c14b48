/// \file
/// LU factorisation of square Cauchy and Cauchy-like matrices in O(n^2): Gaussian elimination on the
/// generators (Gohberg, Kailath, Olshevsky), with pivots among rows and columns.
///
///   A(p_i, q_j) = (L M U)_ij,  L lower, U upper triangular, M diagonal
///
/// A step takes the column with the largest generators |h_j| and in it the row with the largest
/// entry. Every few steps G is made orthonormal, so that the generators stay of the size of the Schur
/// complement (Gu 1998). For Cauchy matrices the generators of every Schur complement are products of
/// differences of nodes: no digits cancel, and L, M, U have small relative errors whatever the
/// condition of the matrix (Boros, Kailath, Olshevsky 1999; Demmel 1999).
#pragma once

#include <memory>
#include <vector>

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/status.hpp"

namespace structmat::cauchy {

/// What the factors keep.
enum class Storage {
  compact,  ///< O(n r) numbers: a solution writes L and U again, a panel at a time
  full      ///< also the n^2 entries of L and U: faster for many later right-hand sides
};

struct LuOptions {
  Storage storage = Storage::compact;
};

template <Scalar T, class Space = space::host>
class Lu;

/// The factors of one matrix or a batch, from factor_lu; immutable.
template <Scalar T>
class Lu<T, space::host> {
 public:
  using value_type = T;

  index_t batch() const { return static_cast<index_t>(entries_.size()); }
  index_t size() const { return size_; }
  index_t rows() const { return size_; }
  index_t cols() const { return size_; }
  /// zero: the matrix is singular to working precision from this step on, as with repeated nodes.
  /// near_singular (Cauchy-like only): a pivot is below 4 sqrt(n) eps times the largest. not_finite:
  /// nodes or generators, with the index of their row or column.
  const PivotStatus& status() const { return status_; }
  /// The largest ||G|| ||H|| of a Schur complement, relative to that of the matrix, both with
  /// orthonormal G before: backward errors are about growth n eps. 1 for Cauchy matrices.
  double growth() const { return growth_; }

 private:
  template <Scalar U>
  friend struct LuBuilder;
  struct Entry;
  index_t size_ = 0;
  std::vector<std::shared_ptr<const Entry>> entries_;
  PivotStatus status_{};
  double growth_ = 1;
};

/// m: n x n, any displacement rank; batch broadcast. Nodes s_i may repeat among themselves, which
/// makes a Cauchy matrix singular, and so may the t_j.
///
/// Cost: about (16 r + 10) n^2 flops complex, (4 r + 4) n^2 real, and n^2 divisions; O(n r) memory,
/// Storage::full n^2 and half as many flops again. Threads: over the batch. Accuracy: backward error
/// about growth n eps ||A||, Cauchy: componentwise small relative errors of the factors. Breakdown is
/// in status(): of the first entry of the batch without factors, or else of the first bad one. Throws ShapeError (also for m != n),
/// DomainError (some s_i equals some t_j, whatever the policy: what is skipped has no displacement).
template <Scalar T>
Lu<T> factor_lu(const exec::cpu& e, const CauchyLikeView<T>& m, const LuOptions& options = {});
template <Scalar T>
Lu<T> factor_lu(const exec::cpu& e, const CauchyView<T>& m, const LuOptions& options = {});
template <Scalar T>
Lu<T> factor_lu(const CauchyLike<T>& m, const LuOptions& options = {}) {
  return factor_lu(exec::cpu{}, m.view(), options);
}
template <Scalar T>
Lu<T> factor_lu(const Cauchy<T>& m, const LuOptions& options = {}) {
  return factor_lu(exec::cpu{}, m.view(), options);
}

/// x := op(A)^-1 b.
///
/// f: usable; b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent 1 of f or b is
/// broadcast. b and x may be the same view, and must not overlap otherwise. Cost: compact about
/// (16 r + 8) n^2 flops complex, (4 r + 2) n^2 real, and n^2 divisions, for all right-hand sides
/// together, 2 n^2 scalar products more for each; workspace 64 n numbers; full 2 n^2 k on BLAS.
/// Accuracy: backward error about growth n eps. Throws ShapeError, DomainError (f broke down;
/// partial overlap).
template <Scalar T>
void solve(const exec::cpu& e, const Lu<T>& f, Op op, View<const T, 3> b, View<T, 3> x);
template <Scalar T, detail::Operand B, class X>
void solve(const exec::cpu& e, const Lu<T>& f, const B& b, X&& x) {
  solve(e, f, Op::none, detail::input<T>(b), detail::output<T>(x));
}

/// Memory for the factors of a batch of small matrices on the device, 2 n^2 numbers each. It is made once,
/// which allocates, and filled by factor_lu.
template <Scalar T>
class Lu<T, space::cuda> {
 public:
  using value_type = T;

  Lu() = default;
  /// n, batch >= 0. Throws ShapeError, NotAvailable, BackendError.
  explicit Lu(index_t n, index_t batch = 1)
      : lower({batch, n, n}, uninitialized),
        upper({batch, n, n}, uninitialized),
        row_order({batch, n}, uninitialized),
        col_order({batch, n}, uninitialized),
        status({batch}) {}

  index_t batch() const { return lower.extent(0); }
  index_t size() const { return lower.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }

  /// lower(b, k, i): column k of L at row i of the matrix, without its unit diagonal and with zeros above
  /// it; upper(b, k, j): row k of U at column j; row_order(b, k), col_order(b, k): where pivot k was.
  Array<T, 3, space::cuda> lower, upper;
  Array<index_t, 2, space::cuda> row_order, col_order;
  /// Of every matrix, as on the host; coinciding nodes are not_finite.
  Array<PivotStatus, 1, space::cuda> status;
};

/// f := the factors of a batch of n x n matrices on the device, a block of threads for each: twin of
/// factor_lu on the host, with the same pivots, for many small systems at once (n up to about 1024; a
/// larger matrix is factored right, but by one multiprocessor).
///
/// m: any strides; f: of the size and batch of m. e.workspace holds factor_lu_workspace_bytes(m): none
/// while 2 n r + 3 n numbers fit into 96 KiB. Enqueues on e.stream, never allocates or synchronises.
/// Cost: (4 r + 2) n^2 multiply-adds, 2 n^2 reciprocals, two block-wide reductions a step; 2 n^2
/// numbers written. Accuracy: as on the host. Breakdown is in f.status. Results do not depend on the
/// batch. Throws NotAvailable; ShapeError, DomainError (workspace too small), BackendError.
template <Scalar T>
void factor_lu(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m, Lu<T, space::cuda>& f);
template <Scalar T>
void factor_lu(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Lu<T, space::cuda>& f);
template <Scalar T>
index_t factor_lu_workspace_bytes(const CauchyLikeView<T, space::cuda>& m);
template <Scalar T>
index_t factor_lu_workspace_bytes(const CauchyView<T, space::cuda>& m);

/// x := op(A)^-1 b on the device; NaN for matrices whose status is not usable.
///
/// f: factored; b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent 1 of f or b is
/// broadcast. b and x may be the same view, and must not overlap otherwise. e.workspace holds
/// solve_workspace_bytes(f, k, batch of b). Enqueues on e.stream, never allocates or synchronises. Cost:
/// 4 n^2 flops a right-hand side; the factors are read once for every four. Throws as factor_lu,
/// Unsupported (a broadcast output).
template <Scalar T>
void solve(const exec::cuda& e, const Lu<T, space::cuda>& f, Op op, View<const T, 3, space::cuda> b,
           View<T, 3, space::cuda> x);
template <Scalar T>
index_t solve_workspace_bytes(const Lu<T, space::cuda>& f, index_t k, index_t batch = 1);

/// det A of one batch entry, as a logarithm and a sign. Accuracy: absolute error of log_abs about
/// n eps times the growth and, but for Cauchy matrices, the condition number. Sign 0 where the matrix
/// is singular. Throws ShapeError, DomainError (not finite).
template <Scalar T>
LogDeterminant<T> log_determinant(const Lu<T>& f, index_t batch = 0);

}  // namespace structmat::cauchy
