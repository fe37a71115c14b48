/// \file
/// Singular values of many small matrices at once, one matrix a lane.
///
/// A call of LAPACK for a matrix of order 16 costs more than its arithmetic. Here W matrices of
/// equal shape lie interleaved, [row][column][lane], and one instruction works on all of them.
/// Householder reflections bring them to bidiagonal form; how many singular values reach a
/// threshold is then the count of negative pivots of the Golub-Kahan tridiagonal matrix with zero
/// diagonal and off-diagonal d_0, e_0, d_1, e_1, ... A value is found by bisection on that count,
/// which always converges.
///
/// Source: Golub, Kahan, SIAM J. Numer. Anal. B 2 (1965); Demmel, Kahan, "Accurate singular values
/// of bidiagonal matrices", SIAM J. Sci. Stat. Comput. 11 (1990).
#pragma once

#include <array>

#include "structmat/core/array.hpp"

namespace structmat::verify {

template <Scalar T>
class LaneBidiagonal {
 public:
  using R = real_t<T>;
  /// Matrices at a time: one 64-byte vector of the real type.
  static constexpr int lanes = static_cast<int>(64 / sizeof(R));
  using Reals = std::array<R, lanes>;
  using Counts = std::array<int, lanes>;

  /// All matrices are rows x columns, rows >= columns >= 1.
  LaneBidiagonal(index_t rows, index_t columns);

  index_t rows() const { return rows_; }
  index_t columns() const { return columns_; }

  /// Puts a finite matrix into a lane, scaled by a power of two so that its largest entry is about
  /// 1. Returns the exponent of that scale: x = lane 2^exponent. Lanes that were not set since the
  /// last `reduce` hold zeros.
  index_t set(int lane, const View<const T, 2>& x);

  /// To bidiagonal form. The entries are used up.
  void reduce();

  /// How many singular values of each lane are at least its threshold (> 0).
  Counts count(const Reals& thresholds) const;

  /// Singular value number l[lane], 0 for the largest, of each lane (l < columns). Absolute error c
  /// columns eps sigma_1; 0 for what lies below eps sigma_1.
  Reals value(const Counts& l) const;

  /// Values below this are rounding.
  R floor(int lane) const { return epsilon<T> / 4 * bound_[lane]; }

 private:
  index_t rows_, columns_;
  Array<R, 1> x_, work_, squares_;
  Reals bound_{};  ///< at least sigma_1
};

}  // namespace structmat::verify
