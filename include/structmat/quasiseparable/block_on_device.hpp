/// \file
/// Quasiseparable matrices with Block transitions in device memory. Sizes of blocks and states stay
/// known to the host, which cuts the work; kernels find the blocks through tables.
#pragma once

#include <algorithm>
#include <vector>

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat {

/// P, Q, A of one triangle: see BlockTriangle.
template <Scalar T>
struct BlockTriangleOnDevice {
  Array<T, 2, space::cuda> p, q, a;  ///< (batch, all numbers of a kind)
  /// (blocks + 1, 4): the state in front of a block, where its P, its Q and its A begin.
  Array<index_t, 2, space::cuda> table;
  index_t order = 0;  ///< the largest state
};

/// The same matrix as Quasiseparable<T, transition::Block>.
template <Scalar T>
class Quasiseparable<T, transition::Block, space::cuda> {
 public:
  using value_type = T;
  using transition_type = transition::Block;

  Partition partition;  ///< on the host
  BlockTriangleOnDevice<T> lower, upper_transposed;
  Array<T, 2, space::cuda> diagonal;     ///< (batch, all numbers)
  Array<index_t, 2, space::cuda> table;  ///< (blocks + 1, 2): first row, where the block's D begins

  index_t batch() const { return diagonal.extent(0); }
  index_t size() const { return partition.rows(); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  Order order() const { return {lower.order, upper_transposed.order}; }

  const Quasiseparable& view() const { return *this; }
};

namespace detail {

template <Scalar T>
BlockTriangleOnDevice<T> block_triangle_to_device(const BlockTriangle<T>& t, index_t blocks) {
  Array<index_t, 2> table({blocks + 1, 4});
  for (index_t i = 0; i < blocks; ++i) {
    table(i, 0) = t.state(i);
    table(i, 1) = t.p(0, i).data() - t.all_p().data();
    table(i, 2) = t.q(0, i).data() - t.all_q().data();
    table(i, 3) = t.a(0, i).data() - t.all_a().data();
  }
  return {to_device(t.all_p()), to_device(t.all_q()), to_device(t.all_a()), to_device(table),
          t.order()};
}

template <Scalar T>
BlockTriangle<T> block_triangle_to_host(const BlockTriangleOnDevice<T>& t,
                                        const Partition& partition, index_t batch) {
  const auto table = to_host(t.table);
  std::vector<index_t> states(table.extent(0));
  for (index_t i = 0; i < table.extent(0); ++i) states[i] = table(i, 0);
  BlockTriangle<T> here(partition, states, batch);
  here.all_p() = to_host(t.p), here.all_q() = to_host(t.q), here.all_a() = to_host(t.a);
  return here;
}

}  // namespace detail

/// Copies on the device and back. Blocking. Throw NotAvailable or BackendError.
template <Scalar T>
Quasiseparable<T, transition::Block, space::cuda> to_device(
    const Quasiseparable<T, transition::Block>& m) {
  const index_t blocks = m.partition.blocks();
  Quasiseparable<T, transition::Block, space::cuda> there;
  there.partition = m.partition;
  there.lower = detail::block_triangle_to_device(m.lower, blocks);
  there.upper_transposed = detail::block_triangle_to_device(m.upper_transposed, blocks);
  there.diagonal = to_device(m.diagonal.all());
  Array<index_t, 2> table({blocks + 1, 2});
  for (index_t i = 0; i <= blocks; ++i) {
    table(i, 0) = i < blocks ? m.partition.begin(i) : m.partition.rows();
    table(i, 1) = i < blocks ? m.diagonal.block(0, i).data() - m.diagonal.all().data() : 0;
  }
  there.table = to_device(table);
  return there;
}
template <Scalar T>
Quasiseparable<T, transition::Block> to_host(
    const Quasiseparable<T, transition::Block, space::cuda>& m) {
  Quasiseparable<T, transition::Block> here;
  here.partition = m.partition;
  here.lower = detail::block_triangle_to_host(m.lower, m.partition, m.batch());
  here.upper_transposed =
      detail::block_triangle_to_host(m.upper_transposed, m.partition, m.batch());
  here.diagonal = BlockDiagonal<T>(m.partition, m.batch());
  here.diagonal.all() = to_host(m.diagonal);
  return here;
}

namespace quasiseparable {

/// Zero generators in device memory: what operations without allocation write to. states: (blocks + 1)
/// sizes each, 0 at the ends. Blocking. Throws ShapeError, NotAvailable or BackendError.
template <Scalar T>
Quasiseparable<T, transition::Block, space::cuda> block_zeros_on_device(
    const Partition& partition, const std::vector<index_t>& lower,
    const std::vector<index_t>& upper_transposed, index_t batch = 1) {
  const auto side = [&](const std::vector<index_t>& states) {
    // On the host without a batch entry: its shapes and places.
    const BlockTriangle<T> shape(partition, states, 0);
    BlockTriangleOnDevice<T> t = detail::block_triangle_to_device(shape, partition.blocks());
    const auto zeros = [&](const Array<T, 2>& like) {
      return Array<T, 2, space::cuda>({batch, like.extent(1)});
    };
    t.p = zeros(shape.all_p()), t.q = zeros(shape.all_q()), t.a = zeros(shape.all_a());
    return t;
  };
  Quasiseparable<T, transition::Block, space::cuda> m;
  m.partition = partition;
  m.lower = side(lower);
  m.upper_transposed = side(upper_transposed);
  Array<index_t, 2> table({partition.blocks() + 1, 2});
  index_t diagonal = 0;
  for (index_t i = 0; i < partition.blocks(); ++i) {
    table(i, 0) = partition.begin(i);
    table(i, 1) = diagonal;
    diagonal += partition.size(i) * partition.size(i);
  }
  table(partition.blocks(), 0) = partition.rows();
  m.table = to_device(table);
  m.diagonal = Array<T, 2, space::cuda>({batch, diagonal});
  return m;
}

/// The same for the partition of m and its states, cut to `order`.
template <Scalar T>
Quasiseparable<T, transition::Block, space::cuda> block_zeros_on_device(
    const Quasiseparable<T, transition::Block, space::cuda>& m, Order order) {
  const auto states = [](const BlockTriangleOnDevice<T>& t, index_t most) {
    const auto table = to_host(t.table);
    std::vector<index_t> all(table.extent(0));
    for (index_t i = 0; i < table.extent(0); ++i) all[i] = std::min(table(i, 0), most);
    return all;
  };
  return block_zeros_on_device<T>(m.partition, states(m.lower, order.lower),
                                  states(m.upper_transposed, order.upper), m.batch());
}

}  // namespace quasiseparable
}  // namespace structmat
