/// \file
/// Random numbers by position: element i of stream `seed` is a function of the two, so that results do
/// not depend on the grid.
#pragma once

#include <cstdint>

#include "core/complex.cuh"

namespace structmat::gpu {

/// 64 well-mixed bits. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014 (SplitMix64, whose states are seed + i gamma).
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A standard normal number; a complex one has E|g|^2 = 1. Box and Muller.
template <class T>
__device__ T gaussian(std::uint64_t seed, std::uint64_t i) {
  using R = real_of_t<T>;
  const auto uniform = [&](std::uint64_t at) {
    return (static_cast<double>(random_bits(seed, at) >> 11) + 0.5) * 0x1p-53;
  };
  const double radius = sqrt(-2 * log(uniform(2 * i)));
  double sine, cosine;
  sincospi(2 * uniform(2 * i + 1), &sine, &cosine);
  if constexpr (is_complex<T>) {
    constexpr double half = 0.70710678118654752;
    return {static_cast<R>(half * radius * cosine), static_cast<R>(half * radius * sine)};
  } else {
    return static_cast<R>(radius * cosine);
  }
}

template <class T>
struct Gaussians {
  T* to;
  index_t count;
  std::uint64_t seed;
};
inline constexpr int gaussian_threads = 256;
template <class T>
__global__ void gaussian_kernel(const __grid_constant__ Gaussians<T> p) {
  for (index_t i = index_t{blockIdx.x} * gaussian_threads + threadIdx.x; i < p.count;
       i += index_t{gridDim.x} * gaussian_threads) {
    p.to[i] = gaussian<T>(p.seed, static_cast<std::uint64_t>(i));
  }
}

/// Elements 0 to count - 1 of stream `seed`.
template <class T>
void fill_gaussian(const char* operation, T* to, index_t count, std::uint64_t seed, int processors,
                   cudaStream_t stream) {
  if (count == 0) return;
  launch(operation, gaussian_kernel<T>, persistent_blocks(count, gaussian_threads, processors),
         gaussian_threads, stream, Gaussians<T>{to, count, seed});
}

}  // namespace structmat::gpu
