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

/// A batch of matrices of one shape, each given by generators. Immutable; copies share the memory; const
/// use is safe from several threads.
template <Scalar T>
class Plan : public OperatorMembers<Plan<T>, T> {
 public:
  using value_type = T;

  /// Any displacement of generators.hpp, Sylvester or Stein, any shape. Cost: O((m + n) log(m + n) r)
  /// (Toeplitz-like), O((m + n) log(m + n) + m r) (others). Throws ShapeError; DomainError where the
  /// displacement operator is singular to working precision, so that the generators do not determine
  /// X: for shifts, m = n, where e = f; for a node x_i that is an n-th root of f; for s_i = t_j.
  explicit Plan(const Generators<T>& x);
  /// Throws ShapeError where shapes differ.
  explicit Plan(const std::vector<Generators<T>>& batch);

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
/// above 7 or a corner is not of modulus about 1); Vandermonde-like O(m n r); Cauchy-like O(m n r).
/// Workspace: six vectors a thread. Accuracy: normwise, c log(n) eps sum_j ||Z_e(g'_j)||_2
/// ||Z_f(J h_j)||_2 ||x||_2 (Toeplitz-like); Cauchy-like componentwise, (n + r + 2) eps sum |g| |h| |x|
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

}  // namespace structmat::displacement
