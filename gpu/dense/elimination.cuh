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
  Candidate* of_warp;
  int* pivots;  ///< of `steps` steps: thread + grid_threads * slot
  T* lines;     ///< 4 * grid_side * edge numbers: rows and columns of pivots, taking turns

  __device__ T* row(int step, int edge) const { return lines + step % 2 * 2 * grid_side * edge; }
  __device__ T* column(int step, int edge) const { return row(step, edge) + grid_side * edge; }
};

/// Publishes the pivot's row, divided by the pivot, and its column, and leaves zeros in their place. Returns
/// size_bits of the largest entry of the row that this thread has published, besides the pivot.
template <class T, int Edge>
__device__ unsigned take_pivot(GridMatrix<T, Edge>& w, int pivot, T* row, T* column) {
  const int thread = static_cast<int>(threadIdx.x), edge = w.edge();
  const int y = thread / grid_side, x = thread % grid_side;
  const int pivot_thread = pivot % grid_threads, slot = pivot / grid_threads, pivot_a = slot / edge,
            pivot_b = slot % edge;
  unsigned largest = 0;
  // The pivot's warp knows the pivot and its row. The pivot itself is taken with its row: neither row nor
  // column changes again.
  if (thread / 32 == pivot_thread / 32) {
#pragma unroll
    for (int a = 0; a < edge; ++a) {
      if (a != pivot_a) continue;
      T own{};
#pragma unroll
      for (int b = 0; b < edge; ++b) {
        if (b == pivot_b) own = w(a, b);
      }
      const T inverse = reciprocal(shuffle(0xffffffffu, own, pivot_thread % 32));
      if (y == pivot_thread / grid_side) {
#pragma unroll
        for (int b = 0; b < edge; ++b) {
          const T factor = thread == pivot_thread && b == pivot_b ? T(0) : w(a, b) * inverse;
          row[x + grid_side * b] = factor;
          largest = max(largest, size_bits(factor));
          w(a, b) = T(0);
        }
      }
    }
  }
  if (x == pivot_thread % grid_side) {
#pragma unroll
    for (int b = 0; b < edge; ++b) {
      if (b != pivot_b) continue;
#pragma unroll
      for (int a = 0; a < edge; ++a) {
        column[y + grid_side * a] = w(a, b);
        w(a, b) = T(0);
      }
    }
  }
  return largest;
}

/// w := w - column row.
template <class T, int Edge>
__device__ void subtract_product(GridMatrix<T, Edge>& w, const T* row, const T* column) {
  const int y = static_cast<int>(threadIdx.x) / grid_side,
            x = static_cast<int>(threadIdx.x) % grid_side;
#pragma unroll
  for (int a = 0; a < w.edge(); ++a) {
    const T factor = -column[y + grid_side * a];
#pragma unroll
    for (int b = 0; b < w.edge(); ++b) {
      w(a, b) = multiply_add(factor, row[x + grid_side * b], w(a, b));
    }
  }
}

/// w := w - L U, with rank(L U) <= steps, for any matrix whose entries are finite: after every step a row
/// and a column more are zero. Stops where all entries are so small that their inverses are not safe: they
/// are expected at a scale about 1. L U and w sum up to the matrix but for rounding: an entry's error is at
/// most steps * eps * the largest pivot, and the norm of the error near eps ||matrix||_F. Returns the number
/// of steps. A barrier between two calls is the caller's.
template <class T, int Edge>
__device__ int block_eliminate(GridMatrix<T, Edge>& w, int steps, const Elimination<T>& shared) {
  using R = real_of_t<T>;
  constexpr unsigned everybody = 0xffffffffu;
  const unsigned tiny =
      size_bits(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int edge = w.edge();
  for (int step = 0; step < steps; ++step) {
    Largest<Edge> largest;
#pragma unroll
    for (int a = 0; a < edge; ++a) {
#pragma unroll
      for (int b = 0; b < edge; ++b) largest.consider(size_bits(w(a, b)), a * edge + b);
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
    const int pivot = __shfl_sync(everybody, candidate.thread + grid_threads * candidate.slot,
                                  __ffs(static_cast<int>(found)) - 1);
    if (size <= tiny) return step;
    if (thread == 0) shared.pivots[step] = pivot;
    T *const row = shared.row(step, edge), *const column = shared.column(step, edge);
    take_pivot(w, pivot, row, column);
    __syncthreads();
    subtract_product(w, row, column);
  }
  return steps;
}

/// The same with the pivots of an earlier call, which a neighbour of this matrix had: no search, and one
/// barrier a step. False where an entry of U exceeds 4 in size or is not a number, so that rounding might
/// grow: w is then of no use.
template <class T, int Edge>
__device__ bool block_eliminate_again(GridMatrix<T, Edge>& w, int steps,
                                      const Elimination<T>& shared) {
  const unsigned most = size_bits(real_of_t<T>(4));
  unsigned largest = 0;
  for (int step = 0; step < steps; ++step) {
    T *const row = shared.row(step, w.edge()), *const column = shared.column(step, w.edge());
    largest = max(largest, take_pivot(w, shared.pivots[step], row, column));
    __syncthreads();
    subtract_product(w, row, column);
  }
  return __syncthreads_or(static_cast<int>(largest > most)) == 0;
}

}  // namespace structmat::gpu
