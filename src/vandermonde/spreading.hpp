/// \file
/// Between points on the circle and a regular grid around it, with the exponential of a semicircle
///   phi(z) = exp(beta (sqrt(1 - z^2) - 1)), |z| <= 1,
/// over w grid points.
#pragma once

#include <vector>

#include "structmat/core/array.hpp"
#include "vandermonde/power.hpp"

namespace structmat::vandermonde {

/// Points sorted along the grid, with the values of phi at the grid points around each.
template <RealScalar R>
class Spreading {
 public:
  /// Grid points outside [0, grid) that a point may reach, on either side.
  static constexpr index_t margin = 32;

  Spreading() = default;
  /// angles: any; grid: at least 2 margin; w <= 16.
  Spreading(const std::vector<TwoDoubles>& angles, index_t grid, int w, double beta);

  index_t points() const { return static_cast<index_t>(order_.size()); }

  /// values_i := sum_l phi(p_i - l) g_l. re, im: margin + grid + margin numbers each, periodic.
  void interpolate(int threads, const R* re, const R* im, std::complex<R>* values) const;
  /// g_l += sum_i phi(p_i - l) values_i, the margins not yet folded in.
  void spread(const std::complex<R>* values, R* re, R* im) const;

 private:
  int stride_ = 0;              // values of phi of one point: w filled up to whole vectors
  std::vector<index_t> order_;  // sorted -> given
  std::vector<index_t> first_;  // first grid point, counted from the start of the margin
  Array<R, 2> phi_;
};

}  // namespace structmat::vandermonde
