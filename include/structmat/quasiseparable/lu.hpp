/// \file
/// Block LU factorisation of a quasiseparable matrix without pivoting between blocks: about twice as
/// fast as qr.hpp, where it works. Pivots are searched inside a diagonal block only; whether that was
/// enough is measured by the growth of the factors, which bounds the backward error.
///
/// With the Schur complements C_k of the diagonal blocks, M = L U,
///   F_0 = 0,  C_k = D_k - P_k F_k P'_k^T,
///   L: P, A, Qn_k^T = (Q_k^T - A_k F_k P'_k^T) C_k^-1 (unit diagonal blocks),
///   U: P', A', Q'n_k = Q'_k - P_k F_k A'_k^T, diagonal blocks C_k,
///   F_{k+1} = A_k F_k A'_k^T + Qn_k^T Q'n_k,
/// on generators for which rows of the lower and of the transposed upper triangle are isometric.
///
/// Source: Eidelman, Gohberg, Haimovici, "Separable Type Representations of Matrices and Fast
/// Algorithms", vol. 1 (2014), chapter 8.
#pragma once

#include <vector>

#include "structmat/core/op.hpp"
#include "structmat/core/operand.hpp"
#include "structmat/core/status.hpp"
#include "structmat/quasiseparable/to_block.hpp"

namespace structmat::quasiseparable {

/// The factors of one matrix or a batch, from factor_lu; immutable.
template <Scalar T>
class Lu {
 public:
  using value_type = T;
  struct Step {
    Array<T, 2> p, a, q;                    ///< of L
    Array<T, 2> p_upper, a_upper, q_upper;  ///< of U, transposed
    Array<T, 2> diagonal;                   ///< LU factors of C_k, column-major
    std::vector<int> pivots;
  };

  index_t batch() const { return static_cast<index_t>(entries_.size()); }
  index_t size() const { return partition_.rows(); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  const Partition& partition() const { return partition_; }
  /// zero: a diagonal block is singular once the rows above it are eliminated, which says nothing of
  /// M. not_finite: the generators.
  const PivotStatus& status() const { return status_; }
  /// max_k (1 + ||L_k||) ||U_k|| / max_k ||M_k|| over block columns of L and block rows of U and M:
  /// the backward error of a solution is about growth eps.
  double growth() const { return growth_; }
  const std::vector<Step>& steps(index_t batch) const { return entries_[batch]; }

 private:
  template <Scalar U>
  friend struct LuBuilder;
  Partition partition_;
  std::vector<std::vector<Step>> entries_;
  PivotStatus status_;
  double growth_ = 1;
};

/// Cost: O(n s^2), about 12 n s^2 flops for blocks of s rows. Breakdown is in status(); throws
/// BackendError.
template <Scalar T>
Lu<T> factor_lu(const Quasiseparable<T, transition::Block>& m);
template <Scalar T, transition::Uniform K>
Lu<T> factor_lu(const QuasiseparableView<T, K>& m) {
  return factor_lu(to_block(m));
}
template <Scalar T, transition::Uniform K>
Lu<T> factor_lu(const Quasiseparable<T, K>& m) {
  return factor_lu(m.view());
}

/// x := op(M)^-1 b; as solve with Qr, but for the accuracy: backward error about
/// growth eps. Throws ShapeError, DomainError (f broke down; partial overlap).
template <Scalar T>
void solve(const exec::cpu& e, const Lu<T>& f, Op op, View<const T, 3> b, View<T, 3> x);
template <Scalar T, detail::Operand B, class X>
void solve(const exec::cpu& e, const Lu<T>& f, const B& b, X&& x) {
  solve(e, f, Op::none, detail::input<T>(b), detail::output<T>(x));
}

}  // namespace structmat::quasiseparable
