/// \file
/// Semiseparable matrices with Block transitions in device memory.
#pragma once

#include "structmat/recurrence/block_on_device.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat {

/// The same matrix as Semiseparable<T, transition::Block>.
template <Scalar T>
class Semiseparable<T, transition::Block, space::cuda> {
 public:
  using value_type = T;
  using transition_type = transition::Block;

  Partition partition;  ///< on the host
  BlockTriangleOnDevice<T> lower;
  BlockDiagonalOnDevice<T> diagonal;

  index_t batch() const { return diagonal.batch(); }
  index_t size() const { return partition.rows(); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  /// The largest state at a block boundary.
  index_t order() const { return lower.order; }

  const Semiseparable& view() const { return *this; }
};

/// Copies on the device and back. Blocking. Throw NotAvailable or BackendError.
template <Scalar T>
Semiseparable<T, transition::Block, space::cuda> to_device(
    const Semiseparable<T, transition::Block>& m) {
  Semiseparable<T, transition::Block, space::cuda> there;
  there.partition = m.partition;
  there.lower = detail::block_triangle_to_device(m.lower, m.partition.blocks());
  there.diagonal = detail::block_diagonal_to_device(m.diagonal, m.partition);
  return there;
}
template <Scalar T>
Semiseparable<T, transition::Block> to_host(
    const Semiseparable<T, transition::Block, space::cuda>& m) {
  Semiseparable<T, transition::Block> here;
  here.partition = m.partition;
  here.lower = detail::block_triangle_to_host(m.lower, m.partition);
  here.diagonal = detail::block_diagonal_to_host(m.diagonal, m.partition);
  return here;
}

}  // namespace structmat
