/// \file
/// One triangle in block form while its states change: block k of the triangle is
///   M_ij = P_i A_{i-1} ... A_{j+1} Q_j^T, i > j.
#pragma once

#include <utility>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/recurrence/block.hpp"

namespace structmat::recurrence {

/// Generators of one triangle of one batch entry. p_k: (m_k, s_k), a_k: (s_{k+1}, s_k), q_k: (m_k,
/// s_{k+1}), s_0 = s_blocks = 0.
template <Scalar T>
struct BlockList {
  std::vector<Array<T, 2>> p, a, q;

  index_t blocks() const { return static_cast<index_t>(p.size()); }
  void append(Array<T, 2> pk, Array<T, 2> ak, Array<T, 2> qk) {
    p.push_back(std::move(pk));
    a.push_back(std::move(ak));
    q.push_back(std::move(qk));
  }
};

/// A copy of one batch entry.
template <Scalar T>
BlockList<T> block_list(const Partition& partition, const BlockTriangle<T>& triangle,
                        index_t batch) {
  const index_t entry = triangle.batch() == 1 ? 0 : batch;
  BlockList<T> list;
  for (index_t k = 0; k < partition.blocks(); ++k) {
    list.append(to_array(triangle.p(entry, k)), to_array(triangle.a(entry, k)),
                to_array(triangle.q(entry, k)));
  }
  return list;
}

/// The triangle of all batch entries; where their states differ in size, they are filled up with
/// zeros.
template <Scalar T>
BlockTriangle<T> assemble(const Partition& partition, const std::vector<BlockList<T>>& batch) {
  std::vector<index_t> states(partition.blocks() + 1, 0);
  for (const BlockList<T>& list : batch) {
    for (index_t k = 1; k < partition.blocks(); ++k) {
      states[k] = std::max(states[k], list.p[k].extent(1));
    }
  }
  BlockTriangle<T> t(partition, std::move(states), static_cast<index_t>(batch.size()));
  const auto put = [](const Array<T, 2>& from, const View<T, 2>& to) {
    copy(from.view(), to.slice(0, 0, from.extent(0)).slice(1, 0, from.extent(1)));
  };
  for (index_t b = 0; b < t.batch(); ++b) {
    for (index_t k = 0; k < partition.blocks(); ++k) {
      put(batch[b].p[k], t.p(b, k));
      put(batch[b].a[k], t.a(b, k));
      put(batch[b].q[k], t.q(b, k));
    }
  }
  return t;
}

/// The transpose of the triangle read from the other end, which is a lower triangle again: what
/// one-sided algorithms do to rows, they do to columns of this.
template <Scalar T>
BlockList<T> reversed(BlockList<T> list) {
  std::swap(list.p, list.q);
  std::reverse(list.p.begin(), list.p.end());
  std::reverse(list.q.begin(), list.q.end());
  std::reverse(list.a.begin(), list.a.end());
  for (Array<T, 2>& a : list.a) a = to_array(a.view().transposed());
  return list;
}

}  // namespace structmat::recurrence
