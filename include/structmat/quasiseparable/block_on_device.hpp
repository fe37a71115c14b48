/// \file
/// Quasiseparable matrices with Block transitions in device memory.
#pragma once

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

}  // namespace structmat
