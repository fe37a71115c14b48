/// \file
/// Inverses and determinants of Hermitian positive definite Toeplitz matrices.
///
///   T_ij = c_{i-j}, c_{-l} = conj(c_l), given by its first column c;
///   T = L diag(d) L^H, d_k the error of predicting a stationary process with covariance c from its k
///   last values; L^-H e_{n-1} d_{n-1}^-1 is the last column of T^-1, its first one is the same
///   backwards with conjugated elements, and with both T^-1 is known (gohberg_semencul.hpp).
///
/// | operation                                      | cost                                         |
/// |------------------------------------------------|----------------------------------------------|
/// | construction, `levinson`, `schur`              | 2 n^2 multiply-adds                          |
/// | construction, `superfast`                      | 10 transforms of length n a level, O(n log^2 n) |
/// | apply = solve, adjoint, a right-hand side      | 6 transforms of length 2 n                   |
/// | log_determinant                                | O(1)                                         |
/// | diagonal; diagonal_sums                        | O(n); 2 transforms of length 2 n             |
///
/// Accuracy: all three methods are weakly stable: relative errors of the columns of T^-1 are about
/// c n eps cond(T) at worst and residuals small where T is well conditioned; where it is not, solve()
/// refines by products with T. docs/math/toeplitz_solve.md has figures.
///
/// Source: Levinson (1946), Durbin (1960); Cybenko, "The numerical stability of the Levinson-Durbin
/// algorithm for Toeplitz systems of equations", SIAM J. Sci. Stat. Comput. 1 (1980); Bojanczyk,
/// Brent, de Hoog, Sweet, "On the stability of the Bareiss and related Toeplitz factorization
/// algorithms", SIAM J. Matrix Anal. Appl. 16 (1995); Ammar, Gragg, "Superfast solution of real
/// positive definite Toeplitz systems", SIAM J. Matrix Anal. Appl. 9 (1988).
#pragma once

#include <vector>

#include "structmat/core/status.hpp"
#include "structmat/toeplitz/gohberg_semencul.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat {
namespace toeplitz {

enum class HermitianMethod {
  automatic,  ///< levinson for small n, superfast beyond the measured crossover
  levinson,   ///< reflection coefficients from inner products
  schur,      ///< reflection coefficients from the residuals, which are carried along
  superfast   ///< the latter by divide and conquer
};

struct HermitianOptions {
  HermitianMethod method = HermitianMethod::automatic;
  /// `superfast` takes about this many steps one by one. 0: what was fastest where it was measured.
  index_t base = 0;
};

/// T^-1, and what else the recursion finds. Const use is safe from several threads. Movable.
template <Scalar T>
class STRUCTMAT_EXPORT HermitianInverse : public OperatorMembers<HermitianInverse<T>, T> {
 public:
  using value_type = T;

  /// No rows.
  HermitianInverse() = default;

  /// column: (n) or (batch, n) in, c_0, ..., c_{n-1}. A matrix that is not positive definite or not
  /// finite is no exception: status() tells. Cost: see the file's head. Workspace: about 16 n numbers
  /// a thread. Threads: over the batch. Throws ShapeError; DomainError: a c_0 with a non-zero imaginary
  /// part, base < 0.
  explicit HermitianInverse(View<const T, 2> column, const HermitianOptions& options = {},
                            const exec::cpu& e = {});
  explicit HermitianInverse(View<const T, 1> column, const HermitianOptions& options = {},
                            const exec::cpu& e = {})
      : HermitianInverse(
            View<const T, 2>(column.data(), {1, column.extent(0)}, {0, column.stride(0)}), options,
            e) {}

  index_t batch() const { return column_.extent(0); }
  index_t size() const { return column_.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  const HermitianInverse& view() const { return *this; }

  /// Of the first batch entry that is not positive definite; unless it is ok, there is no inverse.
  /// index and pivot: the first d_k that is not positive (the first leading block of k + 1 rows that
  /// is not positive definite), or the first lag that is not finite.
  PivotStatus status() const;
  bool ok() const { return status().ok(); }
  /// Of one batch entry. Throws ShapeError.
  PivotStatus status(index_t batch) const;
  /// What `automatic` picked.
  HermitianMethod method() const { return method_; }

  /// The first column of T.
  View<const T, 2> column() const { return column_.view(); }
  /// (batch, n): the pivots d_k; from the first bad one of an entry on NaN.
  View<const double, 2> pivots() const { return pivots_.view(); }
  /// log det T. Error: about n^(1/2) eps max_k (k |log d_k|) beside that of the pivots. Throws
  /// ShapeError; DomainError where that entry is not ok.
  LogDeterminant<T> log_determinant(index_t batch = 0) const;

  /// The formula for T^-1 with its vectors; entries that are not ok hold NaN.
  const GohbergSemencul<T>& formula() const { return formula_; }
  /// (batch, n): the first column of T^-1.
  View<const T, 2> first_column() const { return formula_.first_column(); }
  /// (batch, n): (T^-1)_ii. Throws DomainError (not ok).
  Array<real_t<T>, 2> diagonal() const;
  /// (n), of one batch entry: s_l = sum_i (T^-1)_{i+l,i}. Normwise accurate. Throws ShapeError;
  /// DomainError where that entry is not ok.
  Array<T, 1> diagonal_sums(index_t batch = 0) const;

 private:
  Array<T, 2> column_;
  Array<double, 2> pivots_;
  std::vector<PivotStatus> statuses_;
  std::vector<double> log_determinants_;
  HermitianMethod method_ = HermitianMethod::automatic;
  GohbergSemencul<T> formula_;
};

/// The inverse of a Hermitian positive definite matrix: c_0, c_1, ... are read, as LAPACK reads one
/// triangle, and c_{-l} is taken to be conj(c_l). Throws ShapeError (not square) besides.
template <Scalar T>
HermitianInverse<T> hermitian_inverse(const ToeplitzView<T>& m,
                                      const HermitianOptions& options = {});

template <Scalar T>
LogDeterminant<T> log_determinant(const HermitianInverse<T>& m, index_t batch = 0) {
  return m.log_determinant(batch);
}

}  // namespace toeplitz

/// Engine of y := T^-1 x, T^-T x, T^-H x: that of the formula. Throws DomainError besides where
/// m.status() is not ok.
template <Scalar T>
void apply(const exec::cpu& e, const toeplitz::HermitianInverse<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y);

/// (T^-1)_ij of one batch entry. Cost: O(min(i, j)). Throws ShapeError, DomainError (not ok).
template <Scalar T>
T entry(const toeplitz::HermitianInverse<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := T^-1: (batch, n, n) out. Cost: O(n^2). Throws ShapeError, DomainError (not ok).
template <Scalar T>
void to_dense(const toeplitz::HermitianInverse<T>& m, View<T, 3> dense);

}  // namespace structmat
