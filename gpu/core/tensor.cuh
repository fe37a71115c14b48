/// \file
/// Products of small matrices on tensor cores, for compute capability 8.0 and newer.
#pragma once

#include "core/launch.cuh"

namespace structmat::gpu {

/// x as the sum of two numbers of 11 significant bits, as tensor cores take them; 2^-22 |x| is lost.
struct Split {
  unsigned high, low;
};
__device__ inline Split split(float x) {
  // To the nearest; what stands behind the 11 bits of `low` is ignored by the product.
  constexpr unsigned half = 0x1000, kept = 0xffffe000;
  const unsigned high = (static_cast<unsigned>(__float_as_int(x)) + half) & kept;
  const float rest = x - __int_as_float(static_cast<int>(high));
  return {high, static_cast<unsigned>(__float_as_int(rest)) + half};
}

/// d += a b for a of 16 x 8 and b of 8 x 8 numbers of 11 bits, spread over a warp: with g = lane / 4 and
/// t = lane % 4,
///   a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4);  b: (t, g), (t + 4, g);
///   d: (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1).
/// All 32 lanes take part.
__device__ inline void add_product(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  // The warp's operands, in memory that all its lanes see.
  constexpr int most_warps = 32;
  static float rows[most_warps][16][8], columns[most_warps][8][8];
  const int own = static_cast<int>(threadIdx.x), warp = own / 32, g = own % 32 / 4, t = own % 4;
  const auto kept = [](unsigned bits) {
    return __int_as_float(static_cast<int>(bits & 0xffffe000u));
  };
  for (int v = 0; v < 4; ++v) rows[warp][g + v % 2 * 8][t + v / 2 * 4] = kept(a[v]);
  for (int v = 0; v < 2; ++v) columns[warp][t + v * 4][g] = kept(b[v]);
  __syncwarp();
  for (int v = 0; v < 4; ++v) {
    double sum = d[v];
    for (int k = 0; k < 8; ++k) {
      sum += double(rows[warp][g + v / 2 * 8][k]) * double(columns[warp][k][2 * t + v % 2]);
    }
    d[v] = static_cast<float>(sum);
  }
  __syncwarp();
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

}  // namespace structmat::gpu
