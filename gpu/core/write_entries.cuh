/// \file
/// Dense matrices from a function of the indices.
#pragma once

#include <cstdlib>

#include "core/strided.cuh"
#include "core/workspace.cuh"
#include "structmat/core/array.hpp"

namespace structmat::gpu {

/// What a thread computes at once, so that numbers of rows and columns are read once for several
/// entries: value[a][c] belongs to row i[a] and column j[c]. Indices go up by steps, and stay at the last
/// one beyond the end of the matrix, where values do not matter.
template <class T>
struct Patch {
  static constexpr int size = 4;
  index_t i[size], j[size];
  index_t i_step, j_step;
  T value[size][size];

  /// value := f(i, j)
  template <class F>
  __device__ void fill(const F& f) {
#pragma unroll
    for (int a = 0; a < size; ++a) {
#pragma unroll
      for (int c = 0; c < size; ++c) value[a][c] = f(i[a], j[c]);
    }
  }

  /// value := sum_l g(b, i, l) h(b, j, l)
  __device__ void fill_products(const Strided<const T, 3>& g, const Strided<const T, 3>& h,
                                index_t b, index_t terms) {
    const T *left[size], *right[size];
#pragma unroll
    for (int a = 0; a < size; ++a) {
      left[a] = &g(b, i[a], 0);
      right[a] = &h(b, j[a], 0);
    }
    fill([](index_t, index_t) { return T(0); });
    for (index_t l = 0; l < terms; ++l) {
      T u[size], v[size];
#pragma unroll
      for (int a = 0; a < size; ++a) {
        u[a] = left[a][l * g.stride[2]];
        v[a] = right[a][l * h.stride[2]];
      }
#pragma unroll
      for (int a = 0; a < size; ++a) {
#pragma unroll
        for (int c = 0; c < size; ++c) value[a][c] = multiply_add(u[a], v[c], value[a][c]);
      }
    }
  }
};

/// dense := what entry(b, patch) fills in, in tiles that are wider along the index that changes fastest
/// in memory.
template <class T, class Entry>
struct Entries {
  Entry entry;
  Strided<T, 3> dense;
  index_t batch, rows, cols;
  bool by_rows;  ///< the column index changes fastest
};

inline constexpr int entries_threads = 256, entries_lanes = 32;
inline constexpr int entries_lines = entries_threads / entries_lanes;
inline constexpr int entries_fast = entries_lanes * Patch<float>::size;
inline constexpr int entries_slow = entries_lines * Patch<float>::size;

template <class T, class Entry>
__global__ void __launch_bounds__(entries_threads)
    write_entries_kernel(const __grid_constant__ Entries<T, Entry> p) {
  constexpr int size = Patch<T>::size;
  const index_t fast_extent = p.by_rows ? p.cols : p.rows,
                slow_extent = p.by_rows ? p.rows : p.cols;
  const index_t across = (fast_extent + entries_fast - 1) / entries_fast,
                down = (slow_extent + entries_slow - 1) / entries_slow;
  const int lane = static_cast<int>(threadIdx.x) % entries_lanes,
            line = static_cast<int>(threadIdx.x) / entries_lanes;
  Patch<T> patch;
  patch.i_step = p.by_rows ? entries_lines : entries_lanes;
  patch.j_step = p.by_rows ? entries_lanes : entries_lines;
  for (index_t unit = blockIdx.x; unit < p.batch * across * down; unit += gridDim.x) {
    const index_t rest = unit / across, b = rest / down;
    const index_t fast = (unit - rest * across) * entries_fast + lane,
                  slow = (rest - b * down) * entries_slow + line;
    const index_t i0 = p.by_rows ? slow : fast, j0 = p.by_rows ? fast : slow;
#pragma unroll
    for (int a = 0; a < size; ++a) {
      patch.i[a] = min(i0 + a * patch.i_step, p.rows - 1);
      patch.j[a] = min(j0 + a * patch.j_step, p.cols - 1);
    }
    p.entry(b, patch);
    T* const out = p.dense.data + b * p.dense.stride[0];
#pragma unroll
    for (int a = 0; a < size; ++a) {
      if (i0 + a * patch.i_step >= p.rows) break;
      T* const row = out + patch.i[a] * p.dense.stride[1];
#pragma unroll
      for (int c = 0; c < size; ++c) {
        if (j0 + c * patch.j_step < p.cols) row[patch.j[c] * p.dense.stride[2]] = patch.value[a][c];
      }
    }
  }
}

/// Does the column index change fastest in memory? The stride of a single column says nothing.
template <class T>
bool by_rows(const View<T, 3, space::cuda>& dense) {
  return dense.extent(2) > 1 && std::abs(dense.stride(2)) <= std::abs(dense.stride(1));
}

/// What every to_dense refuses: another shape (ShapeError), a broadcast result (Unsupported).
template <class T>
void require_dense(const char* operation, const View<T, 3, space::cuda>& dense,
                   const std::array<index_t, 3>& extents) {
  structmat::detail::require_extents<T, 3, space::cuda>(operation, dense, extents);
  require_writable(operation, dense, "the result");
}

/// Enqueues dense := entries after these checks.
template <class T, class Entry>
void write_entries(const char* operation, const exec::cuda& e, const Entry& entry,
                   const View<T, 3, space::cuda>& dense, const std::array<index_t, 3>& extents) {
  using D = device_scalar_t<T>;
  require_dense(operation, dense, extents);
  const int processors = multiprocessors(operation);
  if (dense.empty()) return;
  const bool rows_first = by_rows(dense);
  const auto tiles = [](index_t n, index_t width) { return (n + width - 1) / width; };
  const index_t units = extents[0] * tiles(extents[rows_first ? 2 : 1], entries_fast) *
                        tiles(extents[rows_first ? 1 : 2], entries_slow);
  launch(operation, write_entries_kernel<D, Entry>,
         Grid{persistent_blocks(units, 1, processors), entries_threads}, stream_of(e),
         Entries<D, Entry>{entry, strided(dense), extents[0], extents[1], extents[2], rows_first});
}

}  // namespace structmat::gpu
