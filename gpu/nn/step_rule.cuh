/// \file
/// Steps of tokens.
#pragma once

#include <cuda_runtime.h>

namespace structmat::gpu::nn {

constexpr float log2_e = 1.4426950408889634f;

/// 2^x, to 2 ulp; 0 below -126.
__device__ inline float exp2_fast(float x) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return x < -126 ? 0.0f : exp2(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

/// log(1 + e^v) = max(v, 0) + log(1 + u), u = e^-|v|, to 3 eps: log(1 + u) / u by a polynomial on [0, 1]. 0 below -87.
__device__ inline float softplus_of(float v) {
  const float u = exp2_fast(-fabs(v) * log2_e);
  float q = 0.00525345793f;
  q = q * u - 0.0295885075f;
  q = q * u + 0.0783616677f;
  q = q * u - 0.136747703f;
  q = q * u + 0.191114306f;
  q = q * u - 0.248443693f;
  q = q * u + 0.333192706f;
  q = q * u - 0.499995023f;
  q = q * u + 1.0f;
  // In this order NaN stays NaN.
  return (v < 0 ? 0 : v) + q * u;
}

/// Delta of a raw step, bias included, and what it is differentiated by: those of the CPU.
struct StepRule {
  bool softplus;
  float low, high;

  __device__ float unclamped(float v) const { return softplus ? softplus_of(v) : v; }
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
