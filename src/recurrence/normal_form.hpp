/// \file
/// Changes of the states of a triangle that make its rows isometric: with O_k the rows from block k
/// on as a function of the state in front of block k,
///   O_k^H O_k = I,   that is   [P_k; A_k]^H [P_k; A_k] = I.
/// Then the norm of a state is the norm of what it contributes, the block H_k = O_k C_k has the
/// singular values of C_k, and errors in a state reach the product undiminished, not amplified.
#pragma once

#include <functional>

#include "recurrence/block_list.hpp"

namespace structmat::recurrence {

/// States in front of block k are exchanged by an R factor each; none is lost but those that the
/// rows cannot tell apart (more states than rows from k on). Cost: O(n s^2) for blocks of s rows.
template <Scalar T>
void make_rows_isometric(BlockList<T>& list);

/// How much of a block's singular values may go.
struct BlockTruncation {
  double tail = 0;           ///< sqrt of the sum of squares of what is dropped
  index_t most = INT64_MAX;  ///< never more states than this
};

/// Those of each block, in order.
template <Scalar T>
using SingularValues = std::vector<std::vector<real_t<T>>>;

/// What truncate_rows has dropped.
struct Dropped {
  double squares = 0;   ///< sum of all squared singular values dropped
  double rounding = 0;  ///< a bound of what rounding adds to the error
};

/// The same with singular value decompositions instead of QR factorisations. The columns must be
/// isometric (make_rows_isometric of the reversed list): then the singular values met at k are those
/// of the block H_k, and the squared errors of all k add up. truncation(k): for the states in front
/// of block k. values: empty, or filled with the kept singular values in front of each block.
template <Scalar T>
Dropped truncate_rows(BlockList<T>& list, const std::function<BlockTruncation(index_t)>& truncation,
                      SingularValues<T>* values = nullptr);

/// ||triangle||_F, scaled against overflow. The rows must be isometric.
template <Scalar T>
double frobenius_norm(const BlockList<T>& list);

}  // namespace structmat::recurrence
