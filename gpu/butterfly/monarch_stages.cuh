/// \file
/// The two block-diagonal halves of a Monarch product. The transpositions of the index grid are
/// strides: block i of the first half has neighbouring rows, block i of the second one the rows i,
/// i + l, i + 2 l, ...
#pragma once

#include "dense/product.cuh"
#include "structmat/butterfly/monarch.hpp"

namespace structmat::monarch {

/// Blocks (batch, blocks, rows, columns).
template <class T>
auto blocks(const View<T, 4, space::cuda>& w) {
  const auto s = gpu::strided(w);
  return gpu::Factor<gpu::device_scalar_t<T>>{s.data,      s.stride[0], s.stride[1],
                                              s.stride[2], s.stride[3], false};
}

/// Vectors whose blocks are `size` neighbouring rows.
template <class T>
gpu::Factor<T> neighbouring(gpu::Factor<T> x, index_t size) {
  x.inner = x.row * size;
  return x;
}

/// Vectors whose blocks are every `count`-th row.
template <class T>
gpu::Factor<T> interleaved(gpu::Factor<T> x, index_t count) {
  x.inner = x.row;
  x.row *= count;
  return x;
}

/// Vectors between the halves: row-major (batch, rows, columns).
template <class T>
gpu::Factor<T> between(T* data, index_t rows, index_t columns) {
  return {data, rows * columns, 0, columns, 1, false};
}

template <class T>
gpu::Factor<const T> read(const gpu::Factor<T>& f) {
  return {f.data, f.outer, f.inner, f.row, f.column, f.conjugated};
}

}  // namespace structmat::monarch
