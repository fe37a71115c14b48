/// \file
/// Square roots of the Gramians of a triangle: with H_k = M(k:n, 0:k) = O_k C_k,
///   O_k^H O_k = F^H F of the rows from k on,   conj(C_k) C_k^T = F^H F of the columns before k,
/// each kept as an R factor. sigma(H_k) = sigma(F_o F_c^T). Gramians themselves would lose all
/// singular values below sqrt(eps) of the largest.
///
/// States may differ in scale by any factor (p_l large where q_l is small), so each column of R has
/// a power of two of its own: F = R diag(2^e_0, 2^e_1, ...).
#pragma once

#include <vector>

#include "structmat/core/array.hpp"
#include "verify/power_of_two.hpp"

namespace structmat::verify {

template <Scalar T>
class SquareRoot {
 public:
  using R = real_t<T>;

  SquareRoot() : SquareRoot(0, 0) {}
  /// Zeros: rows x order.
  SquareRoot(index_t rows, index_t order);

  index_t order() const { return order_; }
  index_t rows() const { return rows_; }
  /// R, (rows, order), upper trapezoidal.
  View<const T, 2> factor() const { return {r_.data(), {rows_, order_}, {stride_, 1}}; }
  /// e_l; no_exponent for a column of zeros.
  index_t exponent(index_t l) const { return bounds_[l] > 0 ? exponents_[l] : no_exponent; }

  /// F becomes the R factor of [F diag(a); row], by Givens rotations: O(order^2). Needs rows() =
  /// order().
  void append(const View<const T, 1>& a, const View<const T, 1>& row);

  /// F becomes the R factor of [rows; F a]. a: (order before, order after).
  void append(const View<const T, 2>& a, const View<const T, 2>& rows);

 private:
  void rescale(index_t l, const T& a, const T& entry);

  index_t rows_, order_, stride_;
  std::vector<T> r_, row_, a_;
  std::vector<index_t> exponents_;
  std::vector<R> scales_;         ///< 2^-exponent, for rows
  std::vector<R> bounds_, next_;  ///< at least the largest entry of a column of R
};

/// A small matrix x 2^exponent.
template <Scalar T>
struct Scaled {
  Array<T, 2> x;
  index_t exponent = 0;
};

/// F_o F_c^T: (rows of o, rows of c). x is reused when its extents fit.
template <Scalar T>
void multiply(const SquareRoot<T>& o, const SquareRoot<T>& c, Scaled<T>& x);

/// diag(2^before_0, ...) m F^T, each row with an exponent of its own. m: (rows, order of f).
/// before: empty for zeros.
template <Scalar T>
struct ScaledRows {
  Array<T, 2> x;
  std::vector<index_t> exponents;

  ScaledRows(const View<const T, 2>& m, const std::vector<index_t>& before, const SquareRoot<T>& f);
  /// All rows with one exponent.
  Scaled<T> common() const;
};

}  // namespace structmat::verify
