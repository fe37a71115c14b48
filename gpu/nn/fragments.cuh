/// \file
/// Products of tiles in shared memory by one warp, in steps of depth 16, for bf16 and float. Float: three products of
/// tf32, which carry its 24 bits.
#pragma once

#include "nn/tiles.cuh"

namespace structmat::gpu::nn {

/// 16 x 16 numbers of the left operand.
template <class T>
struct Left;
/// 16 x 8 numbers of the right one.
template <class T>
struct Right;

template <>
struct Left<bf16> {
  uint4 word;
};
template <>
struct Right<bf16> {
  uint2 word;
};
// As lanes hold sums: with g = lane / 4 and t = lane % 4, (g, 2 t), (g, 2 t + 1), (g + 8, ...) of each half of 8
// columns. The depth is permuted the same way in both operands, which leaves products as they are.
template <>
struct Left<float> {
  float half[2][4];
};
template <>
struct Right<float> {
  float half[2][2];
};

struct LaneOfWarp {
  int g, t;
};
__device__ inline LaneOfWarp lane_of_warp() {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {lane / 4, lane % 4};
}

/// Rows from `row` on, columns (depth) from k on.
__device__ inline Left<bf16> load_left(const bf16* tile, int stride, int row, int k, Left<bf16>*) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {load_matrices(tile + (row + lane % 16) * stride + k + lane / 16 * 8)};
}
__device__ inline Left<float> load_left(const float* tile, int stride, int row, int k,
                                        Left<float>*) {
  const auto [g, t] = lane_of_warp();
  Left<float> a;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float* const at = tile + (row + g) * stride + k + 8 * half + 2 * t;
    const float2 upper = *reinterpret_cast<const float2*>(at);
    const float2 lower = *reinterpret_cast<const float2*>(at + 8 * stride);
    a.half[half][0] = upper.x, a.half[half][1] = upper.y;
    a.half[half][2] = lower.x, a.half[half][3] = lower.y;
  }
  return a;
}
template <class T>
__device__ Left<T> load_left(const T* tile, int stride, int row, int k) {
  return load_left(tile, stride, row, k, static_cast<Left<T>*>(nullptr));
}

/// Of a tile that has the depth as rows, each times its weight: rows of the operand (the tile's columns) from
/// `row` on.
__device__ inline Left<bf16> load_weighted_left_of_rows(const bf16* tile, int stride, int k,
                                                        int row, const float* weight) {
  const int lane = static_cast<int>(threadIdx.x) % 32, t = lane % 4;
  uint4 w =
      load_matrices<true>(tile + (k + lane / 16 * 8 + lane % 8) * stride + row + lane / 8 % 2 * 8);
  const auto times = [&](unsigned& pair, const float* weights) {
    const float2 v = floats_of_bf16(pair);
    pair = bf16_pair(v.x * weights[0], v.y * weights[1]);
  };
  times(w.x, weight + 2 * t), times(w.y, weight + 2 * t);
  times(w.z, weight + 8 + 2 * t), times(w.w, weight + 8 + 2 * t);
  return {w};
}
__device__ inline Left<float> load_weighted_left_of_rows(const float* tile, int stride, int k,
                                                         int row, const float* weight) {
  const auto [g, t] = lane_of_warp();
  Left<float> a;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int token = 8 * half + 2 * t + v % 2;
      a.half[half][v] = tile[(k + token) * stride + row + g + v / 2 * 8] * weight[token];
    }
  }
  return a;
}

/// Of a tile that has the right operand's columns as rows: columns n ... n + 15, depth from k on.
__device__ inline void load_right(Right<bf16> (&b)[2], const bf16* tile, int stride, int n, int k) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uint4 w =
      load_matrices(tile + (n + lane % 8 + lane / 16 * 8) * stride + k + lane / 8 % 2 * 8);
  b[0].word = {w.x, w.y}, b[1].word = {w.z, w.w};
}
__device__ inline void load_right(Right<float> (&b)[2], const float* tile, int stride, int n,
                                  int k) {
  const auto [g, t] = lane_of_warp();
#pragma unroll
  for (int column = 0; column < 2; ++column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float2 v = *reinterpret_cast<const float2*>(tile + (n + 8 * column + g) * stride + k +
                                                        8 * half + 2 * t);
      b[column].half[half][0] = v.x, b[column].half[half][1] = v.y;
    }
  }
}

/// Of a tile that has them as columns.
__device__ inline void load_right_of_rows(Right<bf16> (&b)[2], const bf16* tile, int stride, int k,
                                          int n) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uint4 w = load_matrices<true>(tile + (k + lane % 16) * stride + n + lane / 16 * 8);
  b[0].word = {w.x, w.y}, b[1].word = {w.z, w.w};
}
__device__ inline void load_right_of_rows(Right<float> (&b)[2], const float* tile, int stride,
                                          int k, int n) {
  const auto [g, t] = lane_of_warp();
#pragma unroll
  for (int column = 0; column < 2; ++column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        b[column].half[half][v] = tile[(k + 8 * half + 2 * t + v) * stride + n + 8 * column + g];
      }
    }
  }
}

/// The left operand from sums of two neighbouring products.
__device__ inline void set_half(Left<bf16>& a, int half, const float (&c)[4]) {
  (half == 0 ? a.word.x : a.word.z) = bf16_pair(c[0], c[1]);
  (half == 0 ? a.word.y : a.word.w) = bf16_pair(c[2], c[3]);
}
__device__ inline void set_half(Left<float>& a, int half, const float (&c)[4]) {
#pragma unroll
  for (int v = 0; v < 4; ++v) a.half[half][v] = c[v];
}

/// sum += a b
__device__ inline void multiply_add(float (&sum)[4], const Left<bf16>& a, const Right<bf16>& b) {
  multiply_add_bf16(sum, a.word, b.word, sum);
}
__device__ inline void multiply_add(float (&sum)[4], const Left<float>& a, const Right<float>& b) {
  const auto low = [](float x, unsigned high) { return tf32(x - __uint_as_float(high)); };
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float(&l)[4] = a.half[half];
    const float(&r)[2] = b.half[half];
    const uint4 a_high{tf32(l[0]), tf32(l[2]), tf32(l[1]), tf32(l[3])};
    const uint4 a_low{low(l[0], a_high.x), low(l[2], a_high.y), low(l[1], a_high.z),
                      low(l[3], a_high.w)};
    const uint2 b_high{tf32(r[0]), tf32(r[1])};
    const uint2 b_low{low(r[0], b_high.x), low(r[1], b_high.y)};
    multiply_add_tf32(sum, a_low, b_high, sum);
    multiply_add_tf32(sum, a_high, b_low, sum);
    multiply_add_tf32(sum, a_high, b_high, sum);
  }
}

/// Two neighbours of a row.
__device__ inline float2 load_pair(const bf16* at) {
  return floats_of_bf16(*reinterpret_cast<const unsigned*>(at));
}
__device__ inline float2 load_pair(const float* at) {
  return *reinterpret_cast<const float2*>(at);
}
__device__ inline void store_pair(bf16* at, float first, float second) {
  *reinterpret_cast<unsigned*>(at) = bf16_pair(first, second);
}
__device__ inline void store_pair(float* at, float first, float second) {
  *reinterpret_cast<float2*>(at) = {first, second};
}

/// Columns 2 t, 2 t + 1, 2 t + 8, 2 t + 9 of a row from `at` on, where neighbouring lanes have its other ones: whole
/// sectors. All lanes take part; those whose row is not there store nothing.
__device__ inline void store_row(float* at, int t, bool there, const float (&v)[4]) {
  if (!there) return;
  store_pair(at + 2 * t, v[0], v[1]);
  store_pair(at + 8 + 2 * t, v[2], v[3]);
}
__device__ inline void store_row(bf16* at, int t, bool there, const float (&v)[4]) {
  const unsigned first = bf16_pair(v[0], v[1]), second = bf16_pair(v[2], v[3]);
  const bool odd = t % 2 != 0;
  const unsigned other = __shfl_xor_sync(~0u, odd ? first : second, 1);
  if (!there) return;
  *reinterpret_cast<uint2*>(at + (odd ? 8 + 2 * (t - 1) : 2 * t)) =
      odd ? uint2{other, second} : uint2{first, other};
}

}  // namespace structmat::gpu::nn
