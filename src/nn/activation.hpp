/// \file
/// The sigmoid and what is made of it.
#pragma once

#include <cmath>

#include "structmat/core/scalar.hpp"

namespace structmat::nn {

template <RealScalar R>
R sigmoid(R v) {
  return 1 / (1 + std::exp(-v));
}
/// v sigmoid(v); 0 at -infinity, where the product is none.
template <RealScalar R>
R silu(R v) {
  const R s = sigmoid(v);
  return s == 0 ? R(0) : v * s;
}
/// Its derivative.
template <RealScalar R>
R silu_slope(R v) {
  const R s = sigmoid(v);
  return s == 0 ? R(0) : s * (1 + v * (1 - s));
}

}  // namespace structmat::nn
