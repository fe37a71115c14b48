/// \file
/// Gaussian elimination with complete pivoting of one small matrix by one block of threads.
#pragma once

#include <limits>

#include "core/complex.cuh"

namespace structmat::gpu {

/// Thread (y, x) of a grid of grid_side x grid_side has the entries (y + grid_side a, x + grid_side b).
inline constexpr int grid_side = 16, grid_threads = grid_side * grid_side;

/// A thread's share of a matrix, Edge x Edge entries in registers.
template <class T, int Edge>
struct GridMatrix {
  T entries[Edge * Edge];

  __device__ explicit GridMatrix(T*, int) {}
  __device__ static constexpr int edge() { return Edge; }
  __device__ T& operator()(int a, int b) { return entries[a * Edge + b]; }
};
/// The same of any size, in the block's memory: edge * edge * grid_threads numbers.
template <class T>
struct GridMatrix<T, 0> {
  T* const entries;
  const int size;

  __device__ GridMatrix(T* memory, int edge) : entries(memory + threadIdx.x), size(edge) {}
  __device__ int edge() const { return size; }
  __device__ T& operator()(int a, int b) const { return entries[(a * size + b) * grid_threads]; }
};

/// Grows with |value|, or |re| + |im|, to 20 bits or more; below 2^31.
__device__ inline unsigned size_bits(float value) {
  return static_cast<unsigned>(__float_as_int(value)) & 0x7fffffffu;
}
__device__ inline unsigned size_bits(double value) {
  return static_cast<unsigned>(__double2hiint(value)) & 0x7fffffffu;
}
template <class R>
__device__ unsigned size_bits(Complex<R> value) {
  return size_bits(taxicab(value));
}

/// The largest of the entries that it has seen. Registers: the place takes the last bits of the size.
template <int Edge>
struct Largest {
  static_assert(Edge * Edge <= 64);
  /// All bits but those of a place. Grids have one dimension, but the compiler does not know: with the mask in
  /// a register, masking and setting a constant place are one instruction.
  const unsigned mask = 0u - 64u * gridDim.y;
  unsigned key = 0;

  __device__ void consider(unsigned bits, int slot) {
    key = max(key, (bits & mask) | static_cast<unsigned>(slot));
  }
  __device__ unsigned size() const { return key & mask; }
  __device__ int slot() const { return static_cast<int>(key & ~mask); }
};
template <>
struct Largest<0> {
  unsigned key = 0;
  int at = 0;
  __device__ void consider(unsigned bits, int slot) {
    if (bits > key) key = bits, at = slot;
  }
  __device__ unsigned size() const { return key; }
  __device__ int slot() const { return at; }
};

/// What the block shares while it eliminates.
template <class T>
struct Elimination {
  struct Candidate {
    unsigned size;
    int thread, slot;
  };
  T *row, *column;  ///< grid_side * edge numbers each
  Candidate* of_warp;
};

/// w := w - L U, with rank(L U) <= steps, for any matrix whose entries are finite: after every step a row
/// and a column more are zero. Stops where all entries are so small that their inverses are not safe: they
/// are expected at a scale about 1. L U and w sum up to the matrix but for rounding: an entry's error is at
/// most steps * eps * the largest pivot, and the norm of the error near eps ||matrix||_F.
template <class T, int Edge>
__device__ void block_eliminate(GridMatrix<T, Edge>& w, int steps, const Elimination<T>& shared) {
  using R = real_of_t<T>;
  constexpr unsigned everybody = 0xffffffffu;
  const unsigned tiny =
      size_bits(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int y = thread / grid_side, x = thread % grid_side, edge = w.edge();
  for (int step = 0; step < steps; ++step) {
    Largest<Edge> largest;
#pragma unroll
    for (int a = 0; a < edge; ++a) {
#pragma unroll
      for (int b = 0; b < edge; ++b) {
        largest.consider(size_bits(w(a, b)), a * edge + b);
      }
    }
    const unsigned of_warp = __reduce_max_sync(everybody, largest.size());
    const unsigned winners = __ballot_sync(everybody, largest.size() == of_warp);
    if (lane == __ffs(static_cast<int>(winners)) - 1) {
      shared.of_warp[warp] = {of_warp, thread, largest.slot()};
    }
    __syncthreads();
    const auto candidate = shared.of_warp[lane % (grid_threads / 32)];
    const unsigned size = __reduce_max_sync(everybody, candidate.size);
    const unsigned found = __ballot_sync(everybody, candidate.size == size);
    const int from = __ffs(static_cast<int>(found)) - 1;
    const int pivot_thread = __shfl_sync(everybody, candidate.thread, from),
              slot = __shfl_sync(everybody, candidate.slot, from);
    if (size <= tiny) break;
    const int pivot_a = slot / edge, pivot_b = slot % edge;
    // The pivot's warp knows the pivot and its row. What is taken from w leaves a zero, and the pivot
    // itself is taken with its row: neither row nor column changes again.
    if (warp == pivot_thread / 32) {
#pragma unroll
      for (int a = 0; a < edge; ++a) {
        if (a != pivot_a) continue;
        T own{};
#pragma unroll
        for (int b = 0; b < edge; ++b) {
          if (b == pivot_b) own = w(a, b);
        }
        const T inverse = reciprocal(shuffle(everybody, own, pivot_thread % 32));
        if (y == pivot_thread / grid_side) {
#pragma unroll
          for (int b = 0; b < edge; ++b) {
            shared.row[x + grid_side * b] = w(a, b) * inverse;
            w(a, b) = T(0);
          }
          if (thread == pivot_thread) shared.row[x + grid_side * pivot_b] = T(0);
        }
      }
    }
    if (x == pivot_thread % grid_side) {
#pragma unroll
      for (int b = 0; b < edge; ++b) {
        if (b != pivot_b) continue;
#pragma unroll
        for (int a = 0; a < edge; ++a) {
          shared.column[y + grid_side * a] = w(a, b);
          w(a, b) = T(0);
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int a = 0; a < edge; ++a) {
      const T factor = -shared.column[y + grid_side * a];
#pragma unroll
      for (int b = 0; b < edge; ++b) {
        w(a, b) = multiply_add(factor, shared.row[x + grid_side * b], w(a, b));
      }
    }
  }
}

}  // namespace structmat::gpu
