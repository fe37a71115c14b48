/// \file
/// From which size on transforms are faster than sums.
#pragma once

#include <algorithm>
#include <cmath>

#include "structmat/core/scalar.hpp"

namespace structmat::toeplitz {

/// Are sums faster than transforms for an m x n product with k right-hand sides, of which the symbol
/// must be computed as well? Measured on a machine with AVX-512: see docs/math/toeplitz.md.
template <Scalar T>
bool direct_is_faster(index_t m, index_t n, index_t k) {
  if (m == 0 || n == 0 || k == 0) return true;
  const double small = static_cast<double>(std::min(m, n));
  return small <= (is_complex_v<T> ? 192 : 256 + 144.0 / static_cast<double>(k));
}

/// The same for a symbol at hand.
template <Scalar T>
bool direct_is_faster(index_t m, index_t n) {
  return std::min(m, n) <= 192;
}

}  // namespace structmat::toeplitz
