/// \file
/// Steps of tokens and their decays, summed up in a chunk.
#pragma once

#include "core/strided.cuh"
#include "nn/step_rule.cuh"

namespace structmat::gpu::nn {

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

__device__ inline float sigmoid(float x) {
  return reciprocal_fast(1 + exp2_fast(-x * log2_e));
}
/// The larger one; NaN stays NaN.
__device__ inline float at_least(float low, float x) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return x < low ? low : x;
#else
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(low), "f"(x));
  return y;
#endif
}
/// v sigmoid(v) and its derivative. The sigmoid is 0 at -104 already, and so are both, where an infinite v would
/// give 0 times infinity.
struct Silu {
  __device__ explicit Silu(float x) : v(at_least(-104, x)), sigma(sigmoid(v)), value(v * sigma) {}
  __device__ float slope() const { return fma(value, 1 - sigma, sigma); }

  float v, sigma, value;
};
__device__ inline float silu(float x) {
  return Silu(x).value;
}
__device__ inline float silu_slope(float x) {
  return Silu(x).slope();
}

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

/// Tokens whose decays a warp sums up.
constexpr int summed_tokens = 64;

/// One warp: steps and inclusive sums of logarithms of `count` <= summed_tokens tokens of a chunk, in the order of the
/// recurrence; beyond count the step is 0 and the sum stays. log_low, of float steps: what rounding log to float loses.
/// For bf16 the sums are in float: what they lose is below what rounding steps to bf16 lost.
template <class T>
__device__ void sum_decays(const HeadSteps<T>& steps, int count, float* delta, float* log,
                           float* log_low) {
  using Sum = std::conditional_t<sizeof(T) == 2, float, double>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  // Neighbours, so that one scan over lanes is enough.
  float d[2];
  Sum sum[2];
#pragma unroll
  for (int v = 0; v < 2; ++v) {
    const int t = 2 * lane + v;
    d[v] =
        t < count ? steps.rule(static_cast<float>(steps.raw[t * steps.stride]) + steps.bias) : 0.0f;
    sum[v] = t < count ? log2_decay(d[v], steps.a) : 0.0f;
  }
  sum[1] += sum[0];
  Sum all = sum[1];
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Sum before = __shfl_up_sync(~0u, all, distance);
    if (lane >= static_cast<int>(distance)) all += before;
  }
  const Sum before = __shfl_up_sync(~0u, all, 1);
  if (lane > 0) sum[0] += before, sum[1] += before;
#pragma unroll
  for (int v = 0; v < 2; ++v) {
    const int t = 2 * lane + v;
    delta[t] = d[v];
    log[t] = static_cast<float>(sum[v]);
    if constexpr (sizeof(T) == 4) {
      log_low[t] = static_cast<float>(sum[v] - static_cast<double>(log[t]));
    }
  }
}

}  // namespace structmat::gpu::nn
