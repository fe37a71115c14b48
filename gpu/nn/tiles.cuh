/// \file
/// Tiles of activations in shared memory.
#pragma once

#include "core/async_copy.cuh"
#include "core/tensor.cuh"
#include "structmat/core/view.hpp"

namespace structmat::gpu::nn {

/// Rows of a tile are apart by this many elements more than they have: 8 rows then meet different banks.
template <class T>
constexpr int tile_padding = 16 / static_cast<int>(sizeof(T));

/// Elements of a padded row.
template <class T>
__host__ __device__ constexpr int tile_stride(int width) {
  return width + tile_padding<T>;
}

/// Can all rows of the last dimension be read in 16 bytes at a time? So where their elements lie together, and
/// pointer, strides and extent are multiples of that.
template <class T, int Rank, class Space>
bool whole_vectors(const View<T, Rank, Space>& v) {
  constexpr index_t each = 16 / static_cast<index_t>(sizeof(T));
  if (reinterpret_cast<std::uintptr_t>(v.data()) % 16 != 0) return false;
  if (v.extent(Rank - 1) % each != 0 || (v.stride(Rank - 1) != 1 && v.extent(Rank - 1) > 1))
    return false;
  for (int d = 0; d + 1 < Rank; ++d) {
    if (v.extent(d) > 1 && v.stride(d) % each != 0) return false;
  }
  return true;
}

/// Rows in device memory.
template <class T>
struct Rows {
  const T* first = nullptr;
  index_t row_stride = 0, stride = 0;  ///< negative row strides: tokens in the opposite order
  bool vectors = false;                ///< whole_vectors() of the view
};

/// Columns [0, used) of rows [0, count) to a tile; the rest of its `rows` x `width` elements (width a multiple of 16 bytes)
/// becomes zero. By threads [0, threads) of a group, `thread` this one's number. Copies may be on their way (copy_async): the caller
/// commits and awaits them.
template <class T>
__device__ void load_tile(T* tile, int rows, int width, const Rows<T>& from, int count, int used,
                          int thread, int threads) {
  constexpr int each = 16 / static_cast<int>(sizeof(T));
  const int pieces = width / each, stride = tile_stride<T>(width);
  if (pieces == 0) return;
  if (from.vectors && threads % pieces == 0 && rows % (threads / pieces) == 0) {
    const int c = thread % pieces * each, step = threads / pieces, first = thread / pieces;
    const int there = c < used ? count : 0;
    T* const to = tile + first * stride + c;
    const T* at = from.first + first * from.row_stride + c;
    const index_t ahead = step * from.row_stride;
#pragma unroll
    for (int r = 0; r < rows; r += step) {
      copy_async_or_zero(reinterpret_cast<uint4*>(to + r * stride),
                         reinterpret_cast<const uint4*>(at), first + r < there);
      at += ahead;
    }
    return;
  }
  for (int i = thread; i < rows * pieces; i += threads) {
    const int r = i / pieces, c = i % pieces * each;
    alignas(16) T piece[each];
#pragma unroll
    for (int v = 0; v < each; ++v) {
      piece[v] = r < count && c + v < used ? from.first[r * from.row_stride + (c + v) * from.stride]
                                           : T(0.0f);
    }
    *reinterpret_cast<uint4*>(tile + r * stride + c) = *reinterpret_cast<const uint4*>(piece);
  }
}

}  // namespace structmat::gpu::nn
