/// \file
/// Copies between matrices of any strides, through tiles: both sides are passed along their contiguous
/// dimension.
#pragma once

#include "core/strided.cuh"

namespace structmat::gpu {

template <class T>
struct MatrixCopy {
  Strided<const T, 2> from;
  Strided<T, 2> to;
  index_t rows, columns;
  bool from_by_rows, to_by_rows;  ///< the second index changes fastest
  real_of_t<T> scale = 1;
  bool conjugated = false;
  const int* unless = nullptr;  ///< where this is set and its number not 0, nothing is copied
  const real_of_t<T>* factor = nullptr;  ///< one more, in device memory
};

inline constexpr int copy_tile = 32, copy_threads = 256;

template <class T>
__global__ void copy_matrix_kernel(const __grid_constant__ MatrixCopy<T> p) {
  __shared__ T tile[copy_tile * (copy_tile + 1)];
  if (p.unless != nullptr && *p.unless != 0) return;
  const real_of_t<T> scale = p.factor == nullptr ? p.scale : p.scale * *p.factor;
  const index_t across = (p.columns + copy_tile - 1) / copy_tile;
  const index_t tiles = across * ((p.rows + copy_tile - 1) / copy_tile);
  const int fast = static_cast<int>(threadIdx.x) % copy_tile,
            slow = static_cast<int>(threadIdx.x) / copy_tile;
  constexpr int step = copy_threads / copy_tile;
  for (index_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const index_t i0 = t / across * copy_tile, j0 = t % across * copy_tile;
    for (int s = slow; s < copy_tile; s += step) {
      const int i = p.from_by_rows ? s : fast, j = p.from_by_rows ? fast : s;
      if (i0 + i < p.rows && j0 + j < p.columns) {
        tile[i * (copy_tile + 1) + j] = p.from(i0 + i, j0 + j);
      }
    }
    __syncthreads();
    for (int s = slow; s < copy_tile; s += step) {
      const int i = p.to_by_rows ? s : fast, j = p.to_by_rows ? fast : s;
      if (i0 + i < p.rows && j0 + j < p.columns) {
        p.to(i0 + i, j0 + j) = conjugate_if(p.conjugated, tile[i * (copy_tile + 1) + j]) * scale;
      }
    }
    __syncthreads();
  }
}

/// to := scale * from, or scale times its conjugate, rows x columns; `unless`, `factor`: see MatrixCopy.
template <class T>
void copy_matrix(const char* operation, Strided<const T, 2> from, Strided<T, 2> to, index_t rows,
                 index_t columns, int processors, cudaStream_t stream, real_of_t<T> scale = 1,
                 bool conjugated = false, const int* unless = nullptr,
                 const real_of_t<T>* factor = nullptr) {
  if (rows == 0 || columns == 0) return;
  const auto by_rows = [](const auto& m) { return std::abs(m.stride[1]) <= std::abs(m.stride[0]); };
  const index_t tiles =
      ((rows + copy_tile - 1) / copy_tile) * ((columns + copy_tile - 1) / copy_tile);
  launch(operation, copy_matrix_kernel<T>, persistent_blocks(tiles, 1, processors), copy_threads,
         stream,
         MatrixCopy<T>{from, to, rows, columns, by_rows(from), by_rows(to), scale, conjugated,
                       unless, factor});
}

}  // namespace structmat::gpu
