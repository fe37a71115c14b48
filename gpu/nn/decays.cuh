/// \file
/// Steps of tokens and their decays, summed up in a chunk.
#pragma once

#include "core/strided.cuh"

namespace structmat::gpu::nn {

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

/// 1 / x for x >= 1, to 1 ulp; 0 above 2^126.
__device__ inline float reciprocal_fast(float x) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return x > 0x1p126f ? 0.0f : 1 / x;
#else
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

constexpr float log2_e = 1.4426950408889634f;

__device__ inline float sigmoid(float x) {
  return reciprocal_fast(1 + exp2_fast(-x * log2_e));
}
/// 0 at -infinity, where the product is none.
__device__ inline float silu(float x) {
  const float s = sigmoid(x);
  return s == 0 ? 0.0f : x * s;
}
__device__ inline float silu_slope(float x) {
  const float s = sigmoid(x);
  return s == 0 ? 0.0f : s * (1 + x * (1 - s));
}

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

/// The steps of one head.
template <class T>
struct HeadSteps {
  const T* raw = nullptr;  ///< of the first token in the order of the recurrence
  index_t stride = 0;      ///< to the next one in that order
  float a, bias;
  StepRule rule;
};

/// Binary logarithm of a token's decay. Below -160 it is 0 in float anyway, and differences of sums would lose the
/// steps next to a huge one.
__device__ inline float log2_decay(float delta, float a) {
  const float v = delta * a * log2_e;
  return v < -160 ? -160 : v;
}

/// One warp: steps and inclusive sums of logarithms of `count` <= size tokens of a chunk, in the order of the
/// recurrence; beyond count the step is 0 and the sum stays. log_low, unless null: what rounding log to float loses.
template <class T>
__device__ void sum_decays(const HeadSteps<T>& steps, int count, int size, float* delta, float* log,
                           float* log_low) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  double carried = 0;
  for (int first = 0; first < size; first += 32) {
    const int t = first + lane;
    float d = 0;
    double sum = 0;
    if (t < count) {
      d = steps.rule(static_cast<float>(steps.raw[t * steps.stride]) + steps.bias);
      sum = log2_decay(d, steps.a);
    }
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const double before = __shfl_up_sync(~0u, sum, distance);
      if (lane >= static_cast<int>(distance)) sum += before;
    }
    sum += carried;
    carried = __shfl_sync(~0u, sum, 31);
    if (t < size) {
      delta[t] = d;
      log[t] = static_cast<float>(sum);
      if (log_low != nullptr) log_low[t] = static_cast<float>(sum - static_cast<double>(log[t]));
    }
  }
}

}  // namespace structmat::gpu::nn
