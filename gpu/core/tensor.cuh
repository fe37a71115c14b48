/// \file
/// Products of small matrices on tensor cores, for compute capability 8.0 and newer.
#pragma once

#if !defined(STRUCTMAT_CUDA_EMULATION)
#include <cuda_fp16.h>
#endif

#include "core/launch.cuh"

namespace structmat::gpu {

/// Two numbers of half precision (11 bits, below 65504) in one register, the first one in the lower half.
__device__ inline unsigned halves(float first, float second) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  const auto bits = [](float x) {
    const _Float16 rounded = static_cast<_Float16>(x);
    std::uint16_t result;
    std::memcpy(&result, &rounded, sizeof result);
    return unsigned{result};
  };
  return bits(first) | bits(second) << 16;
#else
  const __half2 pair = __floats2half2_rn(first, second);
  return *reinterpret_cast<const unsigned*>(&pair);
#endif
}
__device__ inline float2 floats(unsigned halves) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  _Float16 pair[2];
  std::memcpy(pair, &halves, sizeof pair);
  return {static_cast<float>(pair[0]), static_cast<float>(pair[1])};
#else
  return __half22float2(*reinterpret_cast<const __half2*>(&halves));
#endif
}

/// d := c + a b for a of 16 x 16 and b of 16 x 8 numbers of half precision, spread over a warp: with
/// g = lane / 4 and t = lane % 4,
///   a: (g, 2 t ...), (g + 8, 2 t ...), (g, 2 t + 8 ...), (g + 8, 2 t + 8 ...), two columns in each;
///   b: (2 t ..., g), (2 t + 8 ..., g), two rows in each;
///   c, d: (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1).
/// All 32 lanes take part. c may be d.
__device__ inline void multiply_add(float (&d)[4], const uint4& a, const uint2& b,
                                    const float (&c)[4]) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  // The warp's operands, in memory that all its lanes see.
  constexpr int most_warps = 32;
  static float rows[most_warps][16][16], columns[most_warps][8][16];
  const int own = static_cast<int>(threadIdx.x), warp = own / 32, g = own % 32 / 4, t = own % 4;
  const auto keep = [](float* at, unsigned pair) {
    const float2 values = floats(pair);
    at[0] = values.x, at[1] = values.y;
  };
  keep(&rows[warp][g][2 * t], a.x);
  keep(&rows[warp][g + 8][2 * t], a.y);
  keep(&rows[warp][g][2 * t + 8], a.z);
  keep(&rows[warp][g + 8][2 * t + 8], a.w);
  keep(&columns[warp][g][2 * t], b.x);
  keep(&columns[warp][g][2 * t + 8], b.y);
  __syncwarp();
  for (int v = 0; v < 4; ++v) {
    double sum = c[v];
    for (int k = 0; k < 16; ++k) {
      sum += double(rows[warp][g + v / 2 * 8][k]) * double(columns[warp][2 * t + v % 2][k]);
    }
    d[v] = static_cast<float>(sum);
  }
  __syncwarp();
#else
  // Volatile: in the order of the program, in which neighbours do not wait for each other.
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
#endif
}

}  // namespace structmat::gpu
