/// \file
/// Delta of a raw step, and what it is differentiated by.
#pragma once

#include <cmath>
#include <limits>

#include "nn/activation.hpp"

namespace structmat::nn {

template <RealScalar R>
struct StepRule {
  R bias = 0;
  bool softplus = true;
  R low = 0, high = std::numeric_limits<R>::infinity();

  /// softplus(v) = v in R beyond 20 (float) or 40 (double), where e^-v is below half a unit.
  static constexpr R linear_above = std::same_as<R, float> ? 20 : 40;

  R unclamped(R raw) const {
    const R v = raw + bias;
    return !softplus || v > linear_above ? v : std::log1p(std::exp(v));
  }
  R operator()(R raw) const {
    const R v = unclamped(raw);
    // In this order NaN stays NaN.
    return v < low ? low : v > high ? high : v;
  }
  /// d Delta / d raw; 0 where the clamp holds.
  R slope(R raw) const {
    const R v = unclamped(raw);
    if (v < low || v > high) return 0;
    return softplus ? sigmoid(raw + bias) : R(1);
  }
};

}  // namespace structmat::nn
