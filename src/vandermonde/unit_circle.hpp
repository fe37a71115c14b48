/// \file
/// Polynomials at points of the unit circle: c_j -> sum_j c_j exp(i j theta_p), and its transpose.
#pragma once

#include <memory>
#include <vector>

#include "structmat/fft/plan.hpp"
#include "vandermonde/spreading.hpp"

namespace structmat::vandermonde {

/// Const use is safe from several threads.
template <RealScalar R>
class UnitCircle {
 public:
  using C = std::complex<R>;

  /// Modes first_mode .. first_mode + n - 1, n >= 1. tolerance: of the kernel; the width is at most 16.
  UnitCircle(const std::vector<TwoDoubles>& angles, index_t n, index_t first_mode,
             double tolerance);

  index_t points() const { return spreading_.points(); }
  index_t modes() const { return n_; }

  /// values_p := sum_j c_j exp(i (first_mode + j) theta_p). c: n, values: points; no overlap.
  void evaluate(int threads, const C* c, C* values) const;
  /// c_j := sum_p values_p exp(i (first_mode + j) theta_p).
  void sum(const C* values, C* c) const;

 private:
  index_t n_ = 0, grid_ = 0;
  Spreading<R> spreading_;
  std::vector<R> correction_;  // 1 / transform of the kernel, for |mode| = 0 .. n / 2
  std::vector<C> phase_;       // of the middle mode
  std::shared_ptr<const fft::Plan<C>> fft_;
};

}  // namespace structmat::vandermonde
