/// \file
/// Inverses of Toeplitz matrices, from their first and last columns.
///
/// With T x = e_0, T y = e_{n-1} and x_0 != 0 (Gohberg, Semencul),
///
///   T^-1 = (L(x) U(y_{n-1}, ..., y_0) - L(0, y_0, ..., y_{n-2}) U(0, x_{n-1}, ..., x_1)) / x_0,
///
/// L(c) the lower triangular Toeplitz matrix with first column c, U(r) the upper one with first row r.
/// T^-1 is persymmetric, J T^-1 J = T^-T with the exchange J, which is how transposes are multiplied.
///
/// | part                | shape      |
/// |---------------------|------------|
/// | first, last column  | (batch, n) |
///
/// | operation                                     | cost                                       |
/// |-----------------------------------------------|--------------------------------------------|
/// | construction                                  | 2 transforms of length 2 n                 |
/// | apply, transpose, adjoint, a right-hand side  | 6 transforms of length 2 n                 |
/// | entry, diagonal                               | O(n)                                       |
/// | to_dense                                      | O(n^2)                                     |
///
/// Accuracy: normwise in the vectors of the formula, c log n eps ||x||_1 ||y||_1 / |x_0| ||b||, which
/// can exceed ||T^-1|| ||b|| eps where T is ill conditioned.
///
/// Source: Gohberg, Semencul, "On the inversion of finite Toeplitz matrices and their continuous
/// analogs", Mat. Issled. 7 (1972); Trench, "An algorithm for the inversion of finite Toeplitz
/// matrices", J. SIAM 12 (1964).
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat {
namespace toeplitz {

/// The operator T^-1. Const use is safe from several threads. Movable.
template <Scalar T>
class STRUCTMAT_EXPORT GohbergSemencul : public OperatorMembers<GohbergSemencul<T>, T> {
 public:
  using value_type = T;
  using complex_type = std::complex<real_t<T>>;

  /// No rows.
  GohbergSemencul() = default;

  /// first, last: (n) or (batch, n) in, the first and the last column of the inverse. Throws
  /// ShapeError; DomainError where x_0 = 0: T^-1 is not determined by these columns then.
  GohbergSemencul(View<const T, 2> first, View<const T, 2> last);
  GohbergSemencul(View<const T, 1> first, View<const T, 1> last)
      : GohbergSemencul(View<const T, 2>(first.data(), {1, first.extent(0)}, {0, first.stride(0)}),
                        View<const T, 2>(last.data(), {1, last.extent(0)}, {0, last.stride(0)})) {}

  index_t batch() const { return first_.extent(0); }
  index_t size() const { return first_.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  const GohbergSemencul& view() const { return *this; }

  View<const T, 2> first_column() const { return first_.view(); }
  View<const T, 2> last_column() const { return last_.view(); }

  /// Transforms of some length >= 2 n - 1 (0 for n = 0), one row at a time.
  const fft::Plan<T>& plan() const { return plan_; }
  /// The transforms, divided by that length, of x / x_0 and of y with zeros behind them.
  View<const complex_type, 2> first_spectrum() const { return first_spectrum_.view(); }
  View<const complex_type, 2> last_spectrum() const { return last_spectrum_.view(); }

  /// (batch, n): the diagonal of T^-1. Cost: O(n). Error: n eps times sum_i |x_i y_i / x_0| at most.
  Array<T, 2> diagonal() const;

 private:
  Array<T, 2> first_, last_;
  Array<complex_type, 2> first_spectrum_, last_spectrum_;
  fft::Plan<T> plan_{0};
};

}  // namespace toeplitz

/// Engine of y := T^-1 x, T^-T x, T^-H x, see core/apply.hpp.
///
/// x, y: (batch, n, k), any strides; a batch extent 1 of the operator or of x is broadcast. They must
/// not overlap. Cost, accuracy: see the file's head; a column of x that is not finite gives a column
/// that is not. Workspace: about 8 n numbers a thread. Threads: over batch and columns; the bits do
/// not depend on their number. Throws ShapeError, DomainError (overlap).
template <Scalar T>
void apply(const exec::cpu& e, const toeplitz::GohbergSemencul<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y);

/// (T^-1)_ij of one batch entry. Cost: O(min(i, j)). Throws ShapeError.
template <Scalar T>
T entry(const toeplitz::GohbergSemencul<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := T^-1, by the recursion along diagonals. dense: (batch, n, n) out, any strides. Throws
/// ShapeError.
template <Scalar T>
void to_dense(const toeplitz::GohbergSemencul<T>& m, View<T, 3> dense);

}  // namespace structmat
