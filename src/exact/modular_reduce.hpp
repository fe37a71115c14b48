/// \file
/// Reduction of integers in doubles modulo p.
#pragma once

#include <cmath>

#include "core/simd.hpp"

namespace structmat::exact::detail {

/// The centred residue of an integer |x| <= 2^52. Modulo 2: 0 or 1.
STRUCTMAT_INLINE double reduced_residue(double x, double p) {
  const double half = std::floor(p / 2);
  // The quotient is right to within one, and its product with p is exact.
  double r = x - std::floor(x * (1 / p) + 0.5) * p;
  r = r > half ? r - p : r;
  return r < half - p + 1 ? r + p : r;
}

}  // namespace structmat::exact::detail
