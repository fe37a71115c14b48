/// \file
/// Reverse mode of block_apply.hpp.
#pragma once

#include "recurrence/block_apply.hpp"

namespace structmat::recurrence {

/// Cotangents of a BlockMatrix, of its partition and states; null: not wanted. Batch 1 collects
/// sums.
template <Scalar T>
struct BlockCotangent {
  BlockTriangle<T>* lower = nullptr;
  BlockTriangle<T>* upper_transposed = nullptr;
  BlockDiagonal<T>* diagonal = nullptr;
};

/// `bar`, with blocks of `partition`, after a check that it fits m. Throws ShapeError.
template <Scalar T>
BlockCotangent<T> checked_block_cotangent(const char* operation, const BlockMatrix<T>& m,
                                          const Partition& partition, index_t batch,
                                          const BlockCotangent<T>& bar);

/// For y = op(M) x: m_bar and x_bar (may be empty) += cotangents that belong to y_bar. Shapes fit;
/// x_bar overlaps nothing. Where M is lower triangular, cotangents above the diagonal stay as they
/// are.
template <Scalar T>
void apply_block_vjp(const BlockMatrix<T>& m, Op op, View<const T, 3> x, View<const T, 3> y_bar,
                     const BlockCotangent<T>& m_bar, View<T, 3> x_bar);

}  // namespace structmat::recurrence
