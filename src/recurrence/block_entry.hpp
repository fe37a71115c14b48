/// \file
/// Entries of a strictly lower block triangle.
#pragma once

#include "recurrence/walk.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/recurrence/block.hpp"

namespace structmat::recurrence {

/// Entry (i, j), with i in a later block than j.
template <Scalar T>
T block_entry(const Partition& partition, const BlockTriangle<T>& t, index_t batch, index_t i,
              index_t j) {
  const index_t bi = partition.find(i), bj = partition.find(j);
  Walk<T> walk(t.p(batch, bi).select(0, i - partition.begin(bi)));
  for (index_t k = bi - 1; k > bj; --k) walk.through(t.a(batch, k));
  return walk.times(t.q(batch, bj).select(0, j - partition.begin(bj)));
}

/// Writes all blocks below the diagonal blocks.
template <Scalar T>
void block_to_dense(const Partition& partition, const BlockTriangle<T>& t, index_t batch,
                    const View<T, 2>& dense) {
  for (index_t i = 0; i < partition.blocks(); ++i) {
    const index_t row = partition.begin(i), rows = partition.size(i);
    Array<T, 2> w = to_array(t.p(batch, i));
    for (index_t j = i - 1; j >= 0; --j) {
      const index_t column = partition.begin(j), columns = partition.size(j);
      Array<T, 2> block({rows, columns}, uninitialized);
      dense::gemm<T>(Op::none, Op::transpose, T{1}, w, t.q(batch, j), T{0}, block);
      copy(block.view(), dense.slice(0, row, row + rows).slice(1, column, column + columns));
      Array<T, 2> next({rows, t.state(j)}, uninitialized);
      dense::gemm<T>(Op::none, Op::none, T{1}, w, t.a(batch, j), T{0}, next);
      w = std::move(next);
    }
  }
}

}  // namespace structmat::recurrence
