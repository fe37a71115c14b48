/// \file
/// Dense matrices from a function of the indices.
#pragma once

#include <cstdlib>

#include "core/strided.cuh"
#include "core/workspace.cuh"
#include "structmat/core/array.hpp"

namespace structmat::gpu {

/// dense(b, i, j) := entry(b, i, j), in tiles that are wider along the index that changes fastest in
/// memory.
template <class T, class Entry>
struct Entries {
  Entry entry;
  Strided<T, 3> dense;
  index_t batch, rows, cols;
  bool by_rows;  ///< the column index changes fastest
};

inline constexpr int entries_threads = 256, entries_lanes = 32, entries_each = 4;
inline constexpr int entries_fast = entries_lanes * entries_each;
inline constexpr int entries_slow = entries_threads / entries_lanes * entries_each;

template <class T, class Entry>
__global__ void __launch_bounds__(entries_threads)
    write_entries_kernel(const __grid_constant__ Entries<T, Entry> p) {
  constexpr int step = entries_threads / entries_lanes;
  const index_t fast_extent = p.by_rows ? p.cols : p.rows,
                slow_extent = p.by_rows ? p.rows : p.cols;
  const index_t across = (fast_extent + entries_fast - 1) / entries_fast,
                down = (slow_extent + entries_slow - 1) / entries_slow;
  const int lane = static_cast<int>(threadIdx.x) % entries_lanes,
            line = static_cast<int>(threadIdx.x) / entries_lanes;
  for (index_t unit = blockIdx.x; unit < p.batch * across * down; unit += gridDim.x) {
    const index_t rest = unit / across, b = rest / down;
    const index_t fast0 = (unit - rest * across) * entries_fast + lane,
                  slow0 = (rest - b * down) * entries_slow + line;
#pragma unroll
    for (int s = 0; s < entries_each; ++s) {
      const index_t slow = slow0 + s * step;
      if (slow >= slow_extent) break;
#pragma unroll
      for (int f = 0; f < entries_each; ++f) {
        const index_t fast = fast0 + f * entries_lanes;
        if (fast >= fast_extent) break;
        const index_t i = p.by_rows ? slow : fast, j = p.by_rows ? fast : slow;
        p.dense(b, i, j) = p.entry(b, i, j);
      }
    }
  }
}

/// What every to_dense refuses: another shape (ShapeError), a broadcast result (Unsupported).
template <class T>
void require_dense(const char* operation, const View<T, 3, space::cuda>& dense,
                   const std::array<index_t, 3>& extents) {
  structmat::detail::require_extents<T, 3, space::cuda>(operation, dense, extents);
  require_writable(operation, dense, "the result");
}

/// Enqueues dense := (entry(b, i, j)) after these checks.
template <class T, class Entry>
void write_entries(const char* operation, const exec::cuda& e, const Entry& entry,
                   const View<T, 3, space::cuda>& dense, const std::array<index_t, 3>& extents) {
  using D = device_scalar_t<T>;
  require_dense(operation, dense, extents);
  const int processors = multiprocessors(operation);
  if (dense.empty()) return;
  const bool by_rows = std::abs(dense.stride(2)) <= std::abs(dense.stride(1));
  const auto tiles = [](index_t n, index_t width) { return (n + width - 1) / width; };
  const index_t units = extents[0] * tiles(extents[by_rows ? 2 : 1], entries_fast) *
                        tiles(extents[by_rows ? 1 : 2], entries_slow);
  launch(operation, write_entries_kernel<D, Entry>,
         Grid{persistent_blocks(units, 1, processors), entries_threads}, stream_of(e),
         Entries<D, Entry>{entry, strided(dense), extents[0], extents[1], extents[2], by_rows});
}

}  // namespace structmat::gpu
