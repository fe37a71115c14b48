/// \file
/// Products in a workspace added to cotangents, which may be shared by the batch.
#pragma once

#include "core/reduce.cuh"
#include "core/strided.cuh"

namespace structmat::gpu {

/// bar(b, i) += sum over columns, and over the batch where bar has one entry, of w(b, i, c) s(b, i, c),
/// each conjugated or not. s: contiguous.
template <class T>
struct NodeCotangent {
  Strided<T, 2> bar;
  index_t bars;  ///< batch of bar
  Strided<const T, 3> w;
  const T* s;
  index_t batch, count, columns;
  bool conjugated_w, conjugated_s;
};

/// A warp for each element of bar: its lanes take terms in turn.
template <class T>
__global__ void __launch_bounds__(256)
    add_node_cotangent(const __grid_constant__ NodeCotangent<T> m) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const index_t warps = index_t{gridDim.x} * (blockDim.x / 32);
  const index_t terms = m.batch / m.bars * m.columns;
  for (index_t unit = (blockIdx.x * index_t{blockDim.x} + threadIdx.x) / 32;
       unit < m.bars * m.count; unit += warps) {
    const index_t i = unit % m.count, bar = unit / m.count;
    T sum(0);
    for (index_t term = lane; term < terms; term += 32) {
      const index_t b = m.bars == 1 ? term / m.columns : bar, c = term % m.columns;
      const T s = m.s[(b * m.count + i) * m.columns + c];
      sum = multiply_add(conjugate_if(m.conjugated_w, m.w(b, i, c)),
                         conjugate_if(m.conjugated_s, s), sum);
    }
    sum = warp_sum(sum);
    if (lane == 0) m.bar(bar, i) += sum;
  }
}

/// bar(b, i, c) += s(b, i, c), summed over the batch where bar has one entry. s: contiguous.
template <class T>
struct OperandCotangent {
  Strided<T, 3> bar;
  index_t bars;
  const T* s;
  index_t batch, rows, columns;
};

template <class T>
__global__ void __launch_bounds__(256)
    add_operand_cotangent(const __grid_constant__ OperandCotangent<T> m) {
  const index_t each = m.rows * m.columns;
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < m.bars * each;
       unit += index_t{gridDim.x} * blockDim.x) {
    const T* const s = m.s + unit;
    T sum = s[0];
    for (index_t b = 1; b < m.batch / m.bars; ++b) sum += s[b * each];
    m.bar(unit / each, unit % each / m.columns, unit % m.columns) += sum;
  }
}

template <class T>
void add_cotangent(const char* operation, int processors, cudaStream_t stream,
                   const NodeCotangent<T>& m) {
  const index_t work = m.bars * m.count;
  if (work == 0 || m.batch == 0) return;
  launch(operation, add_node_cotangent<T>, persistent_blocks(work, 8, processors), 256, stream, m);
}
template <class T>
void add_cotangent(const char* operation, int processors, cudaStream_t stream,
                   const OperandCotangent<T>& m) {
  const index_t work = m.bars * m.rows * m.columns;
  if (work == 0 || m.batch == 0) return;
  launch(operation, add_operand_cotangent<T>, persistent_blocks(work, 256, processors), 256, stream,
         m);
}

}  // namespace structmat::gpu
