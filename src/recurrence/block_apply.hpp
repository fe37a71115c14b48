/// \file
/// Apply for block generators: three small matrix products a block and triangle, on BLAS.
#pragma once

#include "structmat/core/op.hpp"
#include "structmat/recurrence/block.hpp"

namespace structmat::recurrence {

/// A matrix of block generators, as the families hold them.
template <Scalar T>
struct BlockMatrix {
  const Partition& partition;
  const BlockTriangle<T>* lower;             ///< null: absent
  const BlockTriangle<T>* upper_transposed;  ///< null: absent
  const BlockDiagonal<T>& diagonal;
  bool lower_triangular;  ///< what stands above the diagonal inside diagonal blocks counts as zero
};

/// y := op(M) x; shapes fit, x and y do not overlap. M of batch 1 is broadcast.
template <Scalar T>
void apply_block(const BlockMatrix<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

}  // namespace structmat::recurrence
