/// \file
/// Products of small matrices on tensor cores, for compute capability 8.0 and newer.
#pragma once

#include <array>

#if !defined(STRUCTMAT_CUDA_EMULATION)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include "core/launch.cuh"
#include "structmat/core/bf16.hpp"

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

/// Two numbers of bf16 in one register, the first one in the lower half.
__device__ inline unsigned bf16_pair(float first, float second) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return unsigned{bf16(first).bits} | unsigned{bf16(second).bits} << 16;
#else
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const unsigned*>(&pair);
#endif
}
__device__ inline float2 floats_of_bf16(unsigned pair) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
}

/// The nearest number of 11 bits, as tensor cores read it.
__device__ inline unsigned tf32(float x) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
#else
  unsigned result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(x));
  return result;
#endif
}

#if defined(STRUCTMAT_CUDA_EMULATION)
/// The product of a warp by definition; `read` makes a register's numbers of it: two, or the first one counts.
template <int Depth, class Read>
void emulation_multiply_add(float (&d)[4], const std::array<unsigned, 4>& a,
                            const std::array<unsigned, 2>& b, const float (&c)[4], Read read) {
  // The operands, in memory that all lanes see.
  constexpr int most_warps = 32, each = Depth / 8;
  static float rows[most_warps][16][Depth], columns[most_warps][8][Depth];
  const int own = static_cast<int>(threadIdx.x), warp = own / 32, g = own % 32 / 4, t = own % 4;
  const auto keep = [&](float* at, unsigned word) {
    const float2 values = read(word);
    at[0] = values.x;
    if constexpr (each == 2) at[1] = values.y;
  };
  keep(&rows[warp][g][each * t], a[0]);
  keep(&rows[warp][g + 8][each * t], a[1]);
  keep(&rows[warp][g][each * (t + 4)], a[2]);
  keep(&rows[warp][g + 8][each * (t + 4)], a[3]);
  keep(&columns[warp][g][each * t], b[0]);
  keep(&columns[warp][g][each * (t + 4)], b[1]);
  __syncwarp();
  for (int v = 0; v < 4; ++v) {
    double sum = c[v];
    for (int k = 0; k < Depth; ++k) {
      sum += double(rows[warp][g + v / 2 * 8][k]) * double(columns[warp][2 * t + v % 2][k]);
    }
    d[v] = static_cast<float>(sum);
  }
  __syncwarp();
}
#endif

/// d := c + a b for a of 16 x 16 and b of 16 x 8 numbers of half precision, spread over a warp: with
/// g = lane / 4 and t = lane % 4,
///   a: (g, 2 t ...), (g + 8, 2 t ...), (g, 2 t + 8 ...), (g + 8, 2 t + 8 ...), two columns in each;
///   b: (2 t ..., g), (2 t + 8 ..., g), two rows in each;
///   c, d: (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1).
/// All 32 lanes take part. c may be d.
__device__ inline void multiply_add(float (&d)[4], const uint4& a, const uint2& b,
                                    const float (&c)[4]) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  emulation_multiply_add<16>(d, {a.x, a.y, a.z, a.w}, {b.x, b.y}, c, floats);
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

/// The same for numbers of bf16.
__device__ inline void multiply_add_bf16(float (&d)[4], const uint4& a, const uint2& b,
                                         const float (&c)[4]) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  emulation_multiply_add<16>(d, {a.x, a.y, a.z, a.w}, {b.x, b.y}, c, floats_of_bf16);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
#endif
}

/// d := c + a b for a of 16 x 8 and b of 8 x 8 numbers of tf32:
///   a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4);   b: (t, g), (t + 4, g);   c, d as above.
__device__ inline void multiply_add_tf32(float (&d)[4], const uint4& a, const uint2& b,
                                         const float (&c)[4]) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  emulation_multiply_add<8>(d, {a.x, a.y, a.z, a.w}, {b.x, b.y}, c, [](unsigned x) {
    return float2{__uint_as_float(x), 0};
  });
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
#endif
}

/// Four matrices of 8 x 8 numbers of 16 bits from shared memory: lane i names row i % 8 of matrix i / 8, 16
/// bytes aligned to 16; component m of the result has (g, 2 t), (g, 2 t + 1) of matrix m, or, transposed,
/// (2 t, g), (2 t + 1, g).
template <bool Transposed = false>
__device__ uint4 load_matrices(const void* row) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  constexpr int most_warps = 32;
  static const std::uint16_t* rows[most_warps][32];
  const int own = static_cast<int>(threadIdx.x), warp = own / 32, g = own % 32 / 4, t = own % 4;
  rows[warp][own % 32] = static_cast<const std::uint16_t*>(row);
  __syncwarp();
  unsigned result[4];
  for (int m = 0; m < 4; ++m) {
    const auto at = [&](int r, int c) { return unsigned{rows[warp][8 * m + r][c]}; };
    result[m] =
        Transposed ? at(2 * t, g) | at(2 * t + 1, g) << 16 : at(g, 2 * t) | at(g, 2 * t + 1) << 16;
  }
  __syncwarp();
  return {result[0], result[1], result[2], result[3]};
#else
  uint4 r;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                 : "r"(address)
                 : "memory");
  }
  return r;
#endif
}

}  // namespace structmat::gpu
