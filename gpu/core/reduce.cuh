/// \file
/// Sums over threads in an order that depends on their numbers alone, so that results repeat.
#pragma once

#include "core/complex.cuh"

namespace structmat::gpu {

/// The sum over the warp's lanes, in every lane. All 32 lanes take part.
template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += shuffle_xor(0xffffffffu, value, offset);
  return value;
}

template <class T>
__device__ T warp_max(T value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

/// The sum over a block of a multiple of 32 threads, in every thread. `scratch`: 32 elements of
/// shared memory, free again after the next barrier.
template <class T>
__device__ T block_sum(T value, T* scratch) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  value = warp_sum(value);
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  value = lane < static_cast<int>(blockDim.x) / 32 ? scratch[lane] : T(0);
  return warp_sum(value);
}

/// Sums of N values (powers of two) over `Lanes` lanes that are Stride apart, scattered: lane l of them
/// (its index is `lane`) gets in value[0], ... those of the indices from l N / Lanes on, and at least one.
template <int Lanes, int Stride, int N, class T>
__device__ void scatter_sums(unsigned mask, int lane, T (&value)[N]) {
  int count = N;
#pragma unroll
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {
    const bool high = lane & offset;
    if (count > 1) {
      count /= 2;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if (i >= count) continue;
        const T kept = high ? value[i + count] : value[i];
        const T given = high ? value[i] : value[i + count];
        value[i] = kept + shuffle_xor(mask, given, offset * Stride);
      }
    } else {
      value[0] += shuffle_xor(mask, value[0], offset * Stride);
    }
  }
}

/// The largest value of a block of `Warps` warps, in every thread, none of them NaN. `scratch` is free again
/// after the next barrier.
template <class T, int Warps>
__device__ T block_max(T value, T (&scratch)[Warps]) {
  value = warp_max(value);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
#pragma unroll
  for (const T other : scratch) value = max(value, other);
  return value;
}

}  // namespace structmat::gpu
