/// \file
/// Kernels of the sweep over dense triangles: what is small is done by one block for each triangle.
#pragma once

#include <algorithm>

#include "core/shared.cuh"
#include "dense/qr.cuh"

namespace structmat::quasiseparable {

/// The most threads of a block of those kernels; a warp more for every two columns, up to that.
inline constexpr int sweep_threads = 1024, tile_threads = 512, plain_threads = 256;
inline unsigned threads_for(index_t columns, index_t most) {
  return static_cast<unsigned>(std::clamp<index_t>((columns + 1) / 2 * 32, 32, most));
}

/// Q of the sum of `parts` matrices rows x columns, rows >= columns, one behind the other.
template <class D>
struct Orthonormalise {
  struct Side {
    const D* parts;
    index_t count;
    int rows, columns;
    D* q;  ///< rows x columns
  };
  Side side[2];
  bool in_shared;
};
template <class D>
__global__ void __launch_bounds__(sweep_threads)
    orthonormalise_kernel(const __grid_constant__ Orthonormalise<D> p) {
  const auto& side = p.side[blockIdx.x];
  const int rows = side.rows, columns = side.columns, size = rows * columns,
            threads = static_cast<int>(blockDim.x);
  D* const diagonal = gpu::dynamic_shared<D>();
  D* const work = p.in_shared ? diagonal + columns : side.q;
  for (int i = static_cast<int>(threadIdx.x); i < size; i += threads) {
    D sum{};
    for (index_t c = 0; c < side.count; ++c) sum += side.parts[c * size + i];
    work[i] = sum;
  }
  __syncthreads();
  if (columns == 0) return;
  gpu::block_qr(work, rows, rows, columns, columns, diagonal);
  gpu::block_form_q(work, rows, rows, columns);
  if (!p.in_shared) return;
  for (int i = static_cast<int>(threadIdx.x); i < size; i += threads) side.q[i] = work[i];
}

/// R factors of tiles of rows, one a block, written one below the other.
template <class D>
struct Tiles {
  struct Side {
    const D* from;
    index_t ld, rows;
    int columns, tile;  ///< rows a tile
    int count;          ///< tiles
    D* to;              ///< (count * columns) x columns
  };
  Side side[2];
  D* scratch;  ///< tile * columns numbers a block, or null: in shared memory
  index_t scratch_stride;
};
template <class D>
__global__ void __launch_bounds__(tile_threads) tiles_kernel(const __grid_constant__ Tiles<D> p) {
  const bool second = static_cast<int>(blockIdx.x) >= p.side[0].count;
  const auto& side = p.side[second];
  const int tile = static_cast<int>(blockIdx.x) - (second ? p.side[0].count : 0),
            columns = side.columns, threads = static_cast<int>(blockDim.x);
  const index_t begin = index_t{tile} * side.tile;
  const int rows = static_cast<int>(begin + side.tile < side.rows ? side.tile : side.rows - begin);
  D* const diagonal = gpu::dynamic_shared<D>();
  D* const work =
      p.scratch == nullptr ? diagonal + columns : p.scratch + blockIdx.x * p.scratch_stride;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int c = warp; c < columns; c += threads / 32) {
    for (int i = lane; i < rows; i += 32) work[c * rows + i] = side.from[begin + i + c * side.ld];
  }
  __syncthreads();
  const int steps = rows < columns ? rows : columns;
  gpu::block_qr(work, rows, rows, columns, steps, diagonal);
  const index_t ld = index_t{side.count} * columns;
  for (int c = warp; c < columns; c += threads / 32) {
    for (int i = lane; i < columns; i += 32) {
      D r{};
      if (i < c && i < steps) r = work[c * rows + i];
      if (i == c && i < steps) r = diagonal[i];
      side.to[index_t{tile} * columns + i + c * ld] = r;
    }
  }
}

/// Sums of squares of columns [0, columns) of x, rows [0, rows), a partial sum a block.
template <class D>
struct Squares {
  struct Side {
    const D* x;
    index_t ld, rows;
    int columns;
  };
  Side side[2];
  double* out;  ///< 2 x blocks a side
};
template <class D>
__global__ void squares_kernel(const __grid_constant__ Squares<D> p) {
  __shared__ double scratch[32];
  const int blocks = static_cast<int>(gridDim.x) / 2;
  const int which = static_cast<int>(blockIdx.x) / blocks,
            block = static_cast<int>(blockIdx.x) % blocks;
  const auto& side = p.side[which];
  double sum = 0;
  for (int c = block; c < side.columns; c += blocks) {
    for (index_t i = threadIdx.x; i < side.rows; i += plain_threads) {
      sum += static_cast<double>(gpu::square(side.x[i + c * side.ld]));
    }
  }
  sum = gpu::block_sum(sum, scratch);
  if (threadIdx.x == 0) p.out[blockIdx.x] = sum;
}

/// The singular value decomposition R = U S V^H of a square or wide matrix: R^H = V S U^H, of which
/// one-sided Jacobi rotations give the columns of V S.
template <class D>
struct SmallSvd {
  struct Side {
    const D* r;  ///< by columns: columns x rows
    index_t ld;
    int rows, columns;  ///< of V, rows >= columns
    D* work;            ///< rows x columns; not used in shared memory
    D* v;
    double* summary;  ///< the sum of `squares`, then the singular values
  };
  Side side[2];
  const double* squares;
  int squares_count;  ///< a side
  bool in_shared;
  gpu::real_of_t<D> negligible;  ///< relative to the norm of all: their vectors become zeros
};
template <class D>
__global__ void __launch_bounds__(sweep_threads)
    small_svd_kernel(const __grid_constant__ SmallSvd<D> p) {
  using R = gpu::real_of_t<D>;
  const auto& side = p.side[blockIdx.x];
  const int m = side.rows, n = side.columns, warp = static_cast<int>(threadIdx.x) / 32,
            lane = static_cast<int>(threadIdx.x) % 32, threads = static_cast<int>(blockDim.x);
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int i = 0; i < p.squares_count; ++i) sum += p.squares[blockIdx.x * p.squares_count + i];
    side.summary[0] = sum;
  }
  if (n == 0) return;
  D* const memory = gpu::dynamic_shared<D>();
  D* const work = p.in_shared ? memory : side.work;
  R* const norms = reinterpret_cast<R*>(memory + (p.in_shared ? m * n : 0));
  int* const places = reinterpret_cast<int*>(norms + n);
  for (int i = warp; i < m; i += threads / 32) {
    for (int c = lane; c < n; c += 32) work[i + c * m] = gpu::conjugate(side.r[c + i * side.ld]);
  }
  __syncthreads();
  gpu::block_jacobi(work, m, m, n);
  gpu::block_sort(work, m, m, n, norms, places);
  R squares = 0;
  for (int c = 0; c < n && p.negligible > 0; ++c) squares += norms[c] * norms[c];
  const R floor = p.negligible * sqrt(squares);
  for (int c = warp; c < n; c += threads / 32) {
    const R factor = norms[c] > floor ? 1 / norms[c] : R(0);
    for (int i = lane; i < m; i += 32) side.v[i + places[c] * m] = work[i + c * m] * factor;
    if (lane == 0) side.summary[1 + places[c]] = static_cast<double>(norms[c]);
  }
}

/// to := the adjoint of rows x columns numbers, or of their upper triangle, with zeros below it.
template <class D>
struct Adjoint {
  const D* from;
  index_t ld, rows, columns;
  bool upper;
  D* to;  ///< columns x rows
};
template <class D>
__global__ void adjoint_kernel(const __grid_constant__ Adjoint<D> p) {
  const index_t size = p.rows * p.columns;
  for (index_t at = index_t{blockIdx.x} * plain_threads + threadIdx.x; at < size;
       at += index_t{gridDim.x} * plain_threads) {
    const index_t i = at / p.columns, j = at % p.columns;
    p.to[at] = p.upper && i > j ? D(0) : gpu::conjugate(p.from[i + j * p.ld]);
  }
}

}  // namespace structmat::quasiseparable
