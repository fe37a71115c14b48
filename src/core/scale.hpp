/// \file
/// Multiplication by a power of two.
#pragma once

#include <cmath>

#include "structmat/core/scalar.hpp"

namespace structmat {

/// 2^exponent v
template <Scalar T>
T scaled(const T& v, int exponent) {
  if constexpr (is_complex_v<T>) {
    return {std::ldexp(v.real(), exponent), std::ldexp(v.imag(), exponent)};
  } else {
    return std::ldexp(v, exponent);
  }
}

}  // namespace structmat
