#include "structmat/quasiseparable/to_block.hpp"

#include <algorithm>
#include <vector>

#include "core/instantiate.hpp"
#include "quasiseparable/triangle_sweep.hpp"
#include "recurrence/walk.hpp"

namespace structmat::quasiseparable {
namespace {

/// x := a x for the r rows of x.
template <Scalar T>
void advance(const T& a, const View<T, 2>& x, std::vector<T>&) {
  for (index_t l = 0; l < x.extent(0); ++l) {
    for (index_t c = 0; c < x.extent(1); ++c) x(l, c) *= a;
  }
}
template <Scalar T>
void advance(const View<const T, 1>& a, const View<T, 2>& x, std::vector<T>&) {
  for (index_t l = 0; l < x.extent(0); ++l) {
    for (index_t c = 0; c < x.extent(1); ++c) x(l, c) *= a(l);
  }
}
template <Scalar T>
void advance(const View<const T, 2>& a, const View<T, 2>& x, std::vector<T>& column) {
  column.resize(x.extent(0));
  for (index_t c = 0; c < x.extent(1); ++c) {
    for (index_t l = 0; l < x.extent(0); ++l) {
      T sum{};
      for (index_t k = 0; k < x.extent(0); ++k) sum += a(l, k) * x(k, c);
      column[l] = sum;
    }
    for (index_t l = 0; l < x.extent(0); ++l) x(l, c) = column[l];
  }
}

/// One triangle of one batch entry: out_i^T a_{i-1} ... a_{j+1} in_j.
template <Scalar T, transition::Uniform K>
struct Side {
  View<const T, 2> out, in;
  View<const T, K::rank - 1> a;
  bool transposed;  ///< a_i is to be read as its transpose
};

/// Block generators of the rows [begin, end), and the strictly lower triangle of the diagonal block.
template <Scalar T, transition::Uniform K>
void fill_block(const Side<T, K>& side, index_t begin, index_t end, const View<T, 2>& p,
                const View<T, 2>& a, const View<T, 2>& q, const View<T, 2>& d) {
  const index_t n = side.out.extent(0), r = side.out.extent(1), m = end - begin;
  const index_t entering = p.extent(1);  // r, or 0 in the first block
  // Columns: the entering state, then the rows of the block so far.
  Array<T, 2> x({r, entering + m});
  for (index_t l = 0; l < entering; ++l) x(l, l) = T{1};
  std::vector<T> spare;
  for (index_t i = 0; i < m; ++i) {
    const index_t row = begin + i;
    for (index_t c = 0; c < entering + i; ++c) {
      T sum{};
      for (index_t l = 0; l < r; ++l) sum += side.out(row, l) * x(l, c);
      (c < entering ? p(i, c) : d(i, c - entering)) = sum;
    }
    if (row + 1 == n) return;  // nothing leaves the last block
    if (row > 0) {
      const auto step = recurrence::transition_at<T>(side.a, row);
      const View<T, 2> known = x.view().slice(1, 0, entering + i);
      if constexpr (K::rank == 4) {
        advance<T>(side.transposed ? step.transposed() : step, known, spare);
      } else {
        advance<T>(step, known, spare);
      }
    }
    for (index_t l = 0; l < r; ++l) x(l, entering + i) = side.in(row, l);
  }
  for (index_t l = 0; l < r; ++l) {
    for (index_t c = 0; c < entering; ++c) a(l, c) = x(l, c);
    for (index_t i = 0; i < m; ++i) q(i, l) = x(l, entering + i);
  }
}

Partition even_partition(index_t n, index_t size) {
  Partition partition;
  while (partition.rows() < n) {
    partition.offsets.push_back(std::min(n, partition.rows() + size));
  }
  return partition;
}

std::vector<index_t> inner_states(const Partition& partition, index_t r) {
  std::vector<index_t> states(partition.blocks() + 1, r);
  states.front() = states.back() = 0;
  return states;
}

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Block> to_block(const QuasiseparableView<T, K>& matrix,
                                              index_t block_size) {
  constexpr auto operation = "quasiseparable::to_block";
  if (block_size < 0) {
    throw DomainError(std::string(operation) + ": block_size is " + std::to_string(block_size) +
                      ", it must be at least 0");
  }
  const auto m = checked(matrix, operation);
  const index_t n = m.size(), batch = m.batch();
  const Order order = m.order();
  if (block_size == 0) block_size = next_block(std::max(order.lower, order.upper), INT64_MAX);

  Quasiseparable<T, transition::Block> block;
  block.partition = even_partition(n, block_size);
  block.lower = {block.partition, inner_states(block.partition, order.lower), batch};
  block.upper_transposed = {block.partition, inner_states(block.partition, order.upper), batch};
  block.diagonal = BlockDiagonal<T>(block.partition, batch);
  for (index_t b = 0; b < batch; ++b) {
    const Side<T, K> lower{m.p.select(0, b), m.q.select(0, b), m.a.select(0, b), false};
    const Side<T, K> upper{m.h.select(0, b), m.g.select(0, b), m.b.select(0, b), true};
    for (index_t k = 0; k < block.partition.blocks(); ++k) {
      const index_t begin = block.partition.begin(k), end = begin + block.partition.size(k);
      const View<T, 2> d = block.diagonal.block(b, k);
      fill_block<T, K>(lower, begin, end, block.lower.p(b, k), block.lower.a(b, k),
                       block.lower.q(b, k), d);
      fill_block<T, K>(upper, begin, end, block.upper_transposed.p(b, k),
                       block.upper_transposed.a(b, k), block.upper_transposed.q(b, k),
                       d.transposed());
      for (index_t i = begin; i < end; ++i) d(i - begin, i - begin) = m.d(b, i);
    }
  }
  return block;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                          \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Block> to_block<T, transition::K>( \
      const QuasiseparableView<T, transition::K>&, index_t);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
