/// \file
/// QR factorisation of a quasiseparable matrix without forming it: the general solver. It assumes
/// nothing of leading minors, signs or symmetry.
///
/// The matrix in block form is written as a sparse system for the solution x_k of each block, the
/// states w_k of the lower and v_k of the upper triangle,
///   w_{k+1} = A_k w_k + Q_k^T x_k,    v_k = A'_k^T v_{k+1} + P'_k^T x_k,
///   P_k w_k + D_k x_k + Q'_k v_{k+1} = b_k,
/// with generators for which the rows of the lower triangle and the columns of the upper one are
/// isometric functions of the state (normal form), so that states are as large as what they
/// contribute. Step k takes the equations that the steps before have left over for w_k and v_k (as
/// many as w_k has entries) and those above; v_k is inserted, and w_k and x_k are eliminated by a
/// unitary transformation. What remains are equations for w_{k+1} and v_{k+1}.
///
/// Every step is unitary and the entries of the system are bounded by 1 and by ||M||: the computed
/// solution solves (M + E) x = b with ||E|| <= c sqrt(n / m) eps ||M|| for blocks of m rows in
/// practice (n / m in the worst case), whatever the minors of M.
///
/// Source: Eidelman, Gohberg, "A modification of the Dewilde-van der Veen method for inversion of
/// finite structured matrices", Linear Algebra Appl. 343 (2002); Chandrasekaran, Dewilde, Gu, Pals,
/// van der Veen, "Fast stable solver for sequentially semi-separable linear systems of equations"
/// (2002); Dewilde, van der Veen, "Time-Varying Systems and Computations" (1998), chapter 7.
#pragma once

#include <algorithm>
#include <vector>

#include "structmat/core/op.hpp"
#include "structmat/core/operand.hpp"
#include "structmat/core/status.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/quasiseparable/to_block.hpp"

namespace structmat::quasiseparable {

/// The factors of one matrix or a batch. Obtained from factor_qr; immutable, and safe
/// to use from several threads.
template <Scalar T>
class Qr {
 public:
  using value_type = T;

  index_t batch() const { return static_cast<index_t>(entries_.size()); }
  index_t size() const { return partition_.rows(); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  /// zero: a pivot is 0, M is singular. near_singular: a pivot is below 4 s eps times the norm of its
  /// column in the system, for a step of s equations; the factors are complete. not_finite: the
  /// generators, or products of them.
  const PivotStatus& status() const { return status_; }
  const Partition& partition() const { return partition_; }

  /// One step: [pending; dynamics; outputs] = unitary^H [triangle, kept; 0, next].
  struct Step {
    Array<T, 2> unitary;   ///< Q^H, (w + w' + m)^2
    Array<T, 2> triangle;  ///< R, (w + m)^2
    Array<T, 2> kept;      ///< of w_{k+1} and v_{k+1} in the eliminated equations
    Array<T, 2> v_of_x;    ///< P'_k^T
    Array<T, 2> v_of_v;    ///< A'_k^T
    index_t entering = 0;  ///< w
  };
  struct Entry {
    std::vector<Step> steps;
    LogDeterminant<T> log_determinant;
  };
  const Entry& entry(index_t batch) const { return entries_[batch]; }

 private:
  template <Scalar U>
  friend struct QrBuilder;
  Partition partition_;
  std::vector<Entry> entries_;
  PivotStatus status_;
};

/// m in blocks of twice its order (16 to 256 rows), on which factorisations are fastest.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Block> to_solver_blocks(const QuasiseparableView<T, K>& m) {
  const Order order = m.order();
  return to_block(m, std::clamp<index_t>(2 * std::max(order.lower, order.upper), 16, 256));
}

/// Factors m, any square quasiseparable matrix.
///
/// Cost: O(n s^2) for states and blocks of s rows: about 30 n s^2 flops for both orders and blocks of
/// s; about 8 n s numbers kept. Accuracy: see the file's head. Breakdown, also by NaN or Inf in m,
/// is in status(). Throws BackendError.
template <Scalar T>
Qr<T> factor_qr(const Quasiseparable<T, transition::Block>& m);

/// Uniform generators are brought into block form, with blocks of twice the order.
template <Scalar T, transition::Uniform K>
Qr<T> factor_qr(const QuasiseparableView<T, K>& m) {
  return factor_qr(to_solver_blocks(m));
}
template <Scalar T, transition::Uniform K>
Qr<T> factor_qr(const Quasiseparable<T, K>& m) {
  return factor_qr(m.view());
}

/// x := op(M)^-1 b.
///
/// b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent 1 of f or b is broadcast.
/// b and x may be the same view, and must not overlap otherwise. Cost: about 16 n s k flops for
/// blocks of s rows; workspace O(n s k). Throws ShapeError; DomainError (f broke down: see
/// status(); partial overlap).
template <Scalar T>
void solve(const exec::cpu& e, const Qr<T>& f, Op op, View<const T, 3> b, View<T, 3> x);
template <Scalar T, detail::Operand B, class X>
void solve(const exec::cpu& e, const Qr<T>& f, const B& b, X&& x) {
  solve(e, f, Op::none, detail::input<T>(b), detail::output<T>(x));
}

/// log |det M| and det M / |det M| of one batch entry; sign 0 and -inf for a matrix that is exactly
/// singular. Cost: O(1), it is computed with the factors. Accuracy: that of the pivots: absolute
/// error about n eps cond(M) at worst. Throws ShapeError (no such entry); DomainError (not finite).
template <Scalar T>
LogDeterminant<T> log_determinant(const Qr<T>& f, index_t batch = 0);

/// M^-1 as a quasiseparable matrix with the orders of M: rank M^-1(k:n, 0:k) = rank M(k:n, 0:k).
///
/// The lower triangle of the inverse has the equations that are left over at a block boundary as its
/// state; the upper one has [w; v], which is reduced to the size of v. Its quasiseparable part is what
/// gradients need of an inverse: d log det M = tr(M^-1 dM). Cost: O(n s^2). Accuracy: normwise,
/// c eps cond(M) ||M^-1||. Throws DomainError (f broke down). Source: nullity theorem: Gustafson,
/// "A note on matrix inversion", Linear Algebra Appl. 57 (1984); Fiedler, Markham (1986).
template <Scalar T>
Quasiseparable<T, transition::Block> inverse(const Qr<T>& f);

}  // namespace structmat::quasiseparable
