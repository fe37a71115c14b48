/// \file
/// A matrix given by its displacement, ready for products.
///
/// | operators (Sylvester)     | X                                                                   |
/// |---------------------------|---------------------------------------------------------------------|
/// | Z_e, Z_f (Toeplitz-like)  | sum_j Z_e(g'_j) R Z_f(J h_j),  g' = (Z_e^n - f)^-1 g                 |
/// | D_x, Z_f (Vandermonde-like) | diag(1 / (x^n - f)) sum_j diag(g_j) V(x) Z_f(J h_j)                |
/// | D_s, D_t (Cauchy-like)    | (sum_j g_ij h_jk) / (s_i - t_k)                                     |
///
/// Z_f(c) = sum_k c_k Z_f^k is the f-circulant matrix with first column c, J the reversal, R the
/// reduction of polynomials of degree below n modulo z^m - e (the identity for m = n, where g' = g /
/// (e - f)): with e = 1 and f = -1, half a sum of circulant times skew-circulant matrices. Transposed
/// shifts are reversals of rows or columns, a shift on the left of a diagonal is the transpose, and
/// Stein forms are changed into these (convert.hpp).
///
/// Source: Gohberg, Olshevsky, "Circulants, displacements and decompositions of matrices", Integral
/// Equations Operator Theory 15 (1992); Pan, "Structured Matrices and Polynomials" (2001), ch. 4.
#pragma once

#include <memory>
#include <vector>

#include "structmat/core/apply.hpp"
#include "structmat/displacement/generators.hpp"

namespace structmat::displacement {

struct PlanOptions {
  /// Cauchy-like matrices: what a product may lose, relative to sum |g| |h| |x| / |s - t|, for which it
  /// takes time O((m + n) r) on a line or in the plane (cauchy/plan.hpp). 0: sums pair by pair.
  double tolerance = 0;
};

/// A batch of matrices of one shape, each given by generators. Immutable; copies share the memory; const
/// use is safe from several threads.
template <Scalar T, class Space = space::host>
class STRUCTMAT_EXPORT Plan : public OperatorMembers<Plan<T, Space>, T> {
 public:
  using value_type = T;

  /// Any displacement of generators.hpp, Sylvester or Stein, any shape. Cost: O((m + n) log(m + n) r)
  /// (Toeplitz-like), O((m + n) log(m + n) + m r) (others). Throws ShapeError; DomainError where the
  /// displacement operator is singular to working precision, so that the generators do not determine
  /// X: for shifts, m = n, where e = f; for a node x_i that is an n-th root of f; for s_i = t_j.
  explicit Plan(const Generators<T>& x, const PlanOptions& options = {});
  /// Throws ShapeError where shapes differ.
  explicit Plan(const std::vector<Generators<T>>& batch, const PlanOptions& options = {});

  const Plan& view() const { return *this; }
  index_t batch() const { return index_t(parts_.size()); }
  index_t rows() const { return rows_; }
  index_t cols() const { return cols_; }

  class Part;
  const Part& part(index_t b) const { return *parts_[b]; }

 private:
  std::vector<std::shared_ptr<const Part>> parts_;
  index_t rows_ = 0, cols_ = 0;
};

/// y := op(X) x.
///
/// x: (batch, n, k) in, y: (batch, m, k) out (exchanged for the transpose), any strides; a batch
/// extent 1 of X or x is broadcast; no overlap. Cost, a right-hand side: Toeplitz-like 2 r + 2 complex
/// transforms of length n (real data: 2 ceil(r / 2) + 2; twice the length where n has prime factors
/// above 7 or a corner is not of modulus about 1); Vandermonde-like O(m n r); Cauchy-like O(m n r), or with a tolerance that of a CauchyPlan.
/// Workspace: six vectors a thread. Accuracy: normwise, c log(n) eps sum_j ||Z_e(g'_j)||_2
/// ||Z_f(J h_j)||_2 ||x||_2 (Toeplitz-like); Cauchy-like componentwise, (n + r + 8) eps sum |g| |h| |x|
/// / |s - t|; Vandermonde-like between the two. The bits do not depend on the number of threads.
/// Throws ShapeError, DomainError (overlap).
template <Scalar T>
void apply(const exec::cpu& e, const Plan<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

/// X_ij. Cost: O(n r), Cauchy-like O(r). Throws ShapeError.
template <Scalar T>
T entry(const Plan<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := X, by the recurrence along the displacement. dense: (batch, m, n) out, any strides. Cost:
/// O(m n r), workspace m n. Throws ShapeError.
template <Scalar T>
void to_dense(const Plan<T>& m, View<T, 3> dense);

template <Scalar T>
struct DevicePlanState;

/// The same on a device, for products of either kind:
///
///   Toeplitz-like     Z_e(g'_j) R and Z_f(J h_j) are Toeplitz matrices, with a ToeplitzPlan for all j
///   Vandermonde-like  a ToeplitzPlan for Z_f(J h_j), and powers of nodes as VandermondeView has them
///   Cauchy-like       a CauchyPlan
///
/// It is made from generators on the host, where their O((m + n) r) numbers are changed into one of
/// these forms; neighbours in a batch of one form and order share their launches. Making it allocates
/// and synchronises with the stream of `e`. It holds O((m + n) r) numbers. Const use is safe from
/// several threads and on several streams, with a workspace for each product in progress; copies share
/// their state. Throws as on the host; NotAvailable, BackendError.
template <Scalar T>
class STRUCTMAT_EXPORT Plan<T, space::cuda> {
 public:
  using value_type = T;

  Plan(const exec::cuda& e, const Generators<T>& x, const PlanOptions& options = {});
  Plan(const exec::cuda& e, const std::vector<Generators<T>>& batch,
       const PlanOptions& options = {});

  const Plan& view() const { return *this; }
  index_t batch() const;
  index_t rows() const;
  index_t cols() const;

  const DevicePlanState<T>& state() const { return *state_; }

 private:
  std::shared_ptr<const DevicePlanState<T>> state_;
};

/// y := op(X) x on a device. Shapes as on the host; x, y: any strides, y not broadcast. Enqueued on
/// e.stream; neither allocates nor synchronises. Workspace: apply_workspace_bytes(plan, k, batch of x).
///
/// Launches: Toeplitz-like, two products with ToeplitzPlan for all terms at once and a sum; in a batch
/// the first is one product for each term. Bytes: spectra, 2 (m + n) r numbers, and r k (m + n) numbers of
/// workspace written and read. Vandermonde-like m n r k multiply-adds beside.
/// Accuracy: of the plans and products that it consists of, in sum as on the host. NaN and Inf in x make
/// all of their column NaN, but for Cauchy-like matrices. Results repeat bitwise and do not depend on
/// the batch.
/// Throws ShapeError; DomainError (overlap, workspace), Unsupported (y broadcast), BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const Plan<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of workspace of apply with k right-hand sides; batch: that of x, where it is larger than that of
/// the plan. Throws ShapeError.
template <Scalar T>
index_t apply_workspace_bytes(const Plan<T, space::cuda>& m, index_t k, index_t batch = 1);

/// dense := X on a device, by the recurrence along the displacement: between every 256th row or column,
/// which are products (Toeplitz-like), or from one end of each row, whichever it contracts from
/// (Vandermonde-like). dense: (batch, m, n) out, any strides but 0. Enqueued on e.stream; neither allocates
/// nor synchronises.
/// Cost: O(m n r), m n numbers written. Workspace: to_dense_workspace_bytes. Throws ShapeError,
/// DomainError (workspace), Unsupported (broadcast result), BackendError.
template <Scalar T>
void to_dense(const exec::cuda& e, const Plan<T, space::cuda>& m, View<T, 3, space::cuda> dense);
template <Scalar T>
index_t to_dense_workspace_bytes(const Plan<T, space::cuda>& m);

}  // namespace structmat::displacement
