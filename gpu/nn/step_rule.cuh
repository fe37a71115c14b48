/// \file
/// Steps of tokens.
#pragma once

#include <cuda_runtime.h>

namespace structmat::gpu::nn {

/// Delta of a raw step, bias included, and what it is differentiated by: those of the CPU.
struct StepRule {
  bool softplus;
  float low, high;

  static constexpr float linear_above = 20;

  __device__ float unclamped(float v) const {
    return !softplus || v > linear_above ? v : log1p(exp(v));
  }
  __device__ float operator()(float v) const {
    const float u = unclamped(v);
    // In this order NaN stays NaN.
    return u < low ? low : u > high ? high : u;
  }
  /// d Delta / d raw; 0 where the clamp holds.
  __device__ float slope(float v) const {
    const float u = unclamped(v);
    if (u < low || u > high) return 0;
    return softplus ? 1 / (1 + exp(-v)) : 1;
  }
};

}  // namespace structmat::gpu::nn
