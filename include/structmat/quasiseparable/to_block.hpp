/// \file
/// Block generators of a matrix that has others: from uniform transitions, and on another
/// partition. The block form is the one in which compression, products and general solvers work.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/quasiseparable/block_on_device.hpp"

namespace structmat::quasiseparable {

/// The same matrix in block form: of block rows o <= i < o + m,
///   P rows p_i^T a_{i-1} ... a_o,  A = a_{o+m-1} ... a_o,  Q rows (a_{o+m-1} ... a_{j+1} q_j)^T,
/// and D the diagonal block.
///
/// block_size: rows a block, 0: about the order, between 8 and 256. Cost: O(n r (r + m)) for Scalar
/// and Diagonal, O(n r^2 (r + m)) for Dense, for blocks of m rows; about 3 n r + n m numbers a
/// triangle. Accuracy: componentwise, m eps of what absolute generators give. Throws ShapeError,
/// DomainError (block_size negative).
template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Block> to_block(const QuasiseparableView<T, K>& m,
                                              index_t block_size = 0);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Block> to_block(const Quasiseparable<T, K>& m,
                                              index_t block_size = 0) {
  return to_block(m.view(), block_size);
}

/// The same in device memory: the generators of m, any strides, written to those of `block`, whose
/// partition is any and whose states at inner boundaries are the orders of m (block_zeros_on_device).
/// Blocks of rows are found for themselves. No allocation, no synchronisation, no workspace. Throws ShapeError,
/// Unsupported (two columns of a block exceed shared memory), NotAvailable, BackendError.
template <Scalar T, transition::Uniform K>
void to_block(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m,
              Quasiseparable<T, transition::Block, space::cuda>& block);

/// The same into memory of its own: allocates.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Block, space::cuda> to_block(
    const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m, index_t block_size = 0);

/// The same matrix on another partition of its rows. Blocks are merged by products of their
/// generators; a block that is cut lets its own rows or columns pass the cut as states, whichever
/// are fewer, so that states grow there by up to the size of the block: compress takes that back.
///
/// Cost: O(n (r + m)^2) for blocks of m rows. Exact but for the products. Throws ShapeError (the
/// partition is of another size).
template <Scalar T>
Quasiseparable<T, transition::Block> with_partition(const Quasiseparable<T, transition::Block>& m,
                                                    const Partition& partition);

}  // namespace structmat::quasiseparable
