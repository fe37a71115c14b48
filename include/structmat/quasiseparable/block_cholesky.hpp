/// \file
/// Cholesky factorisation of Hermitian quasiseparable matrices with block generators: M = G G^H.
///
/// G is block lower triangular with the P and A of the matrix, dense lower triangular blocks R_i on
/// its diagonal, and new Q. With f_0 = 0 and X_i = R_i^{-1} (conj(Q_i) - P_i f A_i^H),
///   R_i R_i^H = D_i - P_i f P_i^H,  Q_i' = conj(X_i),  f := A_i f A_i^H + X_i^H X_i.
///
/// Source: Eidelman, Gohberg, "On a new class of structured matrices" (1999); Chandrasekaran et al.,
/// "Some fast algorithms for sequentially semiseparable representations" (2005), section 2.
#pragma once

#include "structmat/core/operand.hpp"
#include "structmat/core/status.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
class BlockCholesky {
 public:
  using value_type = T;

  Partition partition;
  BlockTriangle<T> lower;     ///< P, A, Q' of the strictly lower block part of G
  BlockDiagonal<T> diagonal;  ///< R_i; zero above the diagonal
  PivotStatus status;         ///< of the whole batch; unless it is ok, there is no factor

  index_t batch() const { return diagonal.batch(); }
  index_t size() const { return partition.rows(); }
  bool ok() const { return status.ok(); }
};

/// M = G G^H.
///
/// m: positive definite; its lower block part and the lower triangles of its diagonal blocks are
/// read, the rest is taken to be their adjoint. The status names the first pivot (a diagonal entry
/// of a Schur complement) that is not positive or, for the block in which NaN or Inf shows, not
/// finite. Cost for m_i = r: about 8 n r^2 flops, on BLAS-3. Accuracy: normwise backward stable,
/// c (n + r) eps. Throws ShapeError (partition), DomainError (a diagonal entry with a non-zero
/// imaginary part).
template <Scalar T>
BlockCholesky<T> factor_cholesky(const Quasiseparable<T, transition::Block>& m);

/// y := M^{-1} x; the halves of it: y := G^{-1} x, y := G^{-H} x.
enum class CholeskySolve { both, lower, lower_adjoint };

/// Engine of the functions below. x: (batch, n, k) in, y: (batch, n, k) out, any strides; a batch
/// extent 1 of f or x is broadcast; y may be the same view as x, otherwise they must not overlap.
/// Cost: about 7 n r k flops a triangle. Workspace: n k numbers. Accuracy: substitution. Throws
/// ShapeError, DomainError (overlap).
template <Scalar T>
void cholesky_solve(const BlockCholesky<T>& f, CholeskySolve part, View<const T, 3> x,
                    View<T, 3> y);

/// y := M^{-1} x, with operands as for apply.
template <Scalar T, detail::Operand X, class Y>
void solve(const exec::cpu&, const BlockCholesky<T>& f, const X& x, Y&& y) {
  cholesky_solve<T>(f, CholeskySolve::both, detail::input<T>(x), detail::output<T>(y));
}
/// y := G^{-1} x
template <Scalar T, detail::Operand X, class Y>
void solve_lower(const exec::cpu&, const BlockCholesky<T>& f, const X& x, Y&& y) {
  cholesky_solve<T>(f, CholeskySolve::lower, detail::input<T>(x), detail::output<T>(y));
}
/// y := G^{-H} x
template <Scalar T, detail::Operand X, class Y>
void solve_lower_adjoint(const exec::cpu&, const BlockCholesky<T>& f, const X& x, Y&& y) {
  cholesky_solve<T>(f, CholeskySolve::lower_adjoint, detail::input<T>(x), detail::output<T>(y));
}

/// log det M of one batch entry; its sign is 1. Throws ShapeError (batch).
template <Scalar T>
LogDeterminant<T> log_determinant(const BlockCholesky<T>& f, index_t batch = 0);

}  // namespace structmat::quasiseparable
