/// \file
/// Quasiseparable matrices with Block transitions in device memory.
#pragma once

#include <algorithm>
#include <vector>

#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/recurrence/block_on_device.hpp"

namespace structmat {

/// The same matrix as Quasiseparable<T, transition::Block>.
template <Scalar T>
class Quasiseparable<T, transition::Block, space::cuda> {
 public:
  using value_type = T;
  using transition_type = transition::Block;

  Partition partition;  ///< on the host
  BlockTriangleOnDevice<T> lower, upper_transposed;
  BlockDiagonalOnDevice<T> diagonal;

  index_t batch() const { return diagonal.batch(); }
  index_t size() const { return partition.rows(); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  Order order() const { return {lower.order, upper_transposed.order}; }

  const Quasiseparable& view() const { return *this; }
};

/// Copies on the device and back. Blocking. Throw NotAvailable or BackendError.
template <Scalar T>
Quasiseparable<T, transition::Block, space::cuda> to_device(
    const Quasiseparable<T, transition::Block>& m) {
  Quasiseparable<T, transition::Block, space::cuda> there;
  there.partition = m.partition;
  there.lower = detail::block_triangle_to_device(m.lower, m.partition.blocks());
  there.upper_transposed =
      detail::block_triangle_to_device(m.upper_transposed, m.partition.blocks());
  there.diagonal = detail::block_diagonal_to_device(m.diagonal, m.partition);
  return there;
}
template <Scalar T>
Quasiseparable<T, transition::Block> to_host(
    const Quasiseparable<T, transition::Block, space::cuda>& m) {
  Quasiseparable<T, transition::Block> here;
  here.partition = m.partition;
  here.lower = detail::block_triangle_to_host(m.lower, m.partition);
  here.upper_transposed = detail::block_triangle_to_host(m.upper_transposed, m.partition);
  here.diagonal = detail::block_diagonal_to_host(m.diagonal, m.partition);
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
  // Shapes and places again.
  m.diagonal = detail::block_diagonal_to_device(BlockDiagonal<T>(partition, 0), partition);
  m.diagonal.all = Array<T, 2, space::cuda>({batch, m.diagonal.all.extent(1)});
  return m;
}

/// The same for the partition of m and its states, cut to `order`.
template <Scalar T>
Quasiseparable<T, transition::Block, space::cuda> block_zeros_on_device(
    const Quasiseparable<T, transition::Block, space::cuda>& m, Order order) {
  const auto states = [](const BlockTriangleOnDevice<T>& t, index_t most) {
    std::vector<index_t> all = t.states;
    for (index_t& s : all) s = std::min(s, most);
    return all;
  };
  return block_zeros_on_device<T>(m.partition, states(m.lower, order.lower),
                                  states(m.upper_transposed, order.upper), m.batch());
}

}  // namespace quasiseparable
}  // namespace structmat
