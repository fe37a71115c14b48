/// \file
/// Whole powers by repeated squaring.
#pragma once

#include "core/product.hpp"

namespace structmat::displacement {

/// base^exponent, exponent >= 0; 1 for exponent 0. Accuracy: relative, about exponent eps.
template <Scalar T>
T power(T base, index_t exponent) {
  T result{1};
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = product(result, base);
    if (exponent > 1) base = product(base, base);
  }
  return result;
}

}  // namespace structmat::displacement
