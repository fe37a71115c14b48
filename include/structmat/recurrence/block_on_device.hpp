/// \file
/// Block generators in device memory. Sizes of blocks and states stay known to the host, which cuts the
/// work; kernels find the blocks through tables.
#pragma once

#include <algorithm>
#include <vector>

#include "structmat/recurrence/block.hpp"

namespace structmat {

/// P, Q, A of one triangle: see BlockTriangle.
template <Scalar T>
struct BlockTriangleOnDevice {
  Array<T, 2, space::cuda> p, q, a;  ///< (batch, all numbers of a kind)
  /// (blocks + 1, 5): the state in front of a block, where its P, its Q and its A begin, and the sum of
  /// the states in front of the blocks before it.
  Array<index_t, 2, space::cuda> table;
  std::vector<index_t> states{0};  ///< s_i, 0 <= i <= blocks, on the host
  index_t order = 0;               ///< the largest state
  index_t total = 0;               ///< the sum of all states

  index_t batch() const { return p.extent(0); }
};

/// The blocks on the diagonal: see BlockDiagonal.
template <Scalar T>
struct BlockDiagonalOnDevice {
  Array<T, 2, space::cuda> all;          ///< (batch, all numbers)
  Array<index_t, 2, space::cuda> table;  ///< (blocks + 1, 2): first row, where the block begins
  index_t rows = 0;                      ///< of the largest block

  index_t batch() const { return all.extent(0); }
};

namespace detail {

template <Scalar T>
BlockTriangleOnDevice<T> block_triangle_to_device(const BlockTriangle<T>& t, index_t blocks) {
  Array<index_t, 2> table({blocks + 1, 5});
  for (index_t i = 0; i <= blocks; ++i) {
    table(i, 0) = t.state(i);
    if (i == blocks) break;
    table(i, 1) = t.p(0, i).data() - t.all_p().data();
    table(i, 2) = t.q(0, i).data() - t.all_q().data();
    table(i, 3) = t.a(0, i).data() - t.all_a().data();
    table(i + 1, 4) = table(i, 4) + t.state(i);
  }
  return {to_device(t.all_p()), to_device(t.all_q()), to_device(t.all_a()),
          to_device(table),     t.states(),           t.order(),
          table(blocks, 4)};
}

template <Scalar T>
BlockTriangle<T> block_triangle_to_host(const BlockTriangleOnDevice<T>& t,
                                        const Partition& partition) {
  BlockTriangle<T> here(partition, t.states, t.batch());
  here.all_p() = to_host(t.p), here.all_q() = to_host(t.q), here.all_a() = to_host(t.a);
  return here;
}

template <Scalar T>
BlockDiagonalOnDevice<T> block_diagonal_to_device(const BlockDiagonal<T>& d,
                                                  const Partition& partition) {
  const index_t blocks = partition.blocks();
  Array<index_t, 2> table({blocks + 1, 2});
  index_t rows = 0;
  for (index_t i = 0; i < blocks; ++i) {
    rows = std::max(rows, partition.size(i));
    table(i, 0) = partition.begin(i);
    table(i, 1) = d.block(0, i).data() - d.all().data();
  }
  table(blocks, 0) = partition.rows();
  return {to_device(d.all()), to_device(table), rows};
}

template <Scalar T>
BlockDiagonal<T> block_diagonal_to_host(const BlockDiagonalOnDevice<T>& d,
                                        const Partition& partition) {
  BlockDiagonal<T> here(partition, d.batch());
  here.all() = to_host(d.all);
  return here;
}

}  // namespace detail
}  // namespace structmat
