#include "structmat/recurrence/block.hpp"

#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"

namespace structmat {
namespace {

/// Running offsets of blocks with size(i) numbers each; returns the total.
template <class Size>
index_t place(std::vector<index_t>& at, index_t blocks, const Size& size) {
  at.resize(blocks);
  index_t total = 0;
  for (index_t i = 0; i < blocks; ++i) {
    at[i] = total;
    total += size(i);
  }
  return total;
}

std::vector<index_t> block_sizes(const Partition& partition) {
  std::vector<index_t> rows(partition.blocks());
  for (index_t i = 0; i < partition.blocks(); ++i) rows[i] = partition.size(i);
  return rows;
}

}  // namespace

template <Scalar T>
BlockTriangle<T>::BlockTriangle(const Partition& partition, std::vector<index_t> states,
                                index_t batch)
    : rows_(block_sizes(partition)), states_(std::move(states)) {
  const index_t blocks = partition.blocks();
  if (static_cast<index_t>(states_.size()) != blocks + 1) {
    throw ShapeError("block_triangle: " + std::to_string(states_.size()) + " state sizes for " +
                     std::to_string(blocks) + " blocks, expected " + std::to_string(blocks + 1));
  }
  if (states_.front() != 0 || states_.back() != 0) {
    throw ShapeError(
        "block_triangle: the states before the first and after the last block have sizes " +
        std::to_string(states_.front()) + " and " + std::to_string(states_.back()) +
        ", expected 0");
  }
  p_ = Array<T, 2>({batch, place(p_at_, blocks, [&](index_t i) { return rows_[i] * states_[i]; })});
  q_ = Array<T, 2>(
      {batch, place(q_at_, blocks, [&](index_t i) { return rows_[i] * states_[i + 1]; })});
  a_ = Array<T, 2>(
      {batch, place(a_at_, blocks, [&](index_t i) { return states_[i + 1] * states_[i]; })});
}

template <Scalar T>
BlockDiagonal<T>::BlockDiagonal(const Partition& partition, index_t batch)
    : rows_(block_sizes(partition)) {
  d_ = Array<T, 2>(
      {batch, place(at_, partition.blocks(), [&](index_t i) { return rows_[i] * rows_[i]; })});
}

#define STRUCTMAT_INSTANTIATE(T)                    \
  template class STRUCTMAT_EXPORT BlockTriangle<T>; \
  template class STRUCTMAT_EXPORT BlockDiagonal<T>;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
