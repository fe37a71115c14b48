/// \file
/// Numbers that are neither NaN nor infinite.
#pragma once

#include <cmath>

#include "structmat/core/scalar.hpp"

namespace structmat {

template <Scalar T>
bool is_finite(const T& x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

}  // namespace structmat
