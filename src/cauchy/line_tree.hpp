/// \file
/// Nodes on a line in ascending order, and the binary tree of their halves.
#pragma once

#include <vector>

#include "cauchy/direct_kernel.hpp"
#include "structmat/core/array.hpp"

namespace structmat::cauchy {

/// Cell i has the children 2 i + 1 and 2 i + 2, each with half of its nodes: the depth is log2(n)
/// however the nodes are clustered. A cell knows the interval that its nodes fill, not a share of
/// the parent's.
template <RealScalar R>
struct LineTree {
  struct Cell {
    index_t begin, end;  // of its nodes
    R low, high;         // the first and the last of them
    R half;              // (high - low) / 2

    index_t size() const { return end - begin; }
  };

  LineTree() = default;
  /// Leaves have at most `leaf` nodes. `name` is that of the nodes in messages. Throws DomainError,
  /// on behalf of cauchy::plan, where a node is not finite, or differences could overflow.
  LineTree(const View<const R, 1>& given, const char* name, index_t leaf);

  index_t size() const { return static_cast<index_t>(order.size()); }
  index_t first_leaf() const { return (index_t{1} << depth) - 1; }
  bool is_leaf(index_t cell) const { return cell >= first_leaf(); }
  Reach leaf_reach(index_t cell) const { return reach[cell - first_leaf()]; }

  int depth = 0;
  Array<R, 1> nodes;           // ascending; the last one is repeated to fill vectors
  std::vector<index_t> order;  // nodes(i) is node order[i] as given
  std::vector<Cell> cells;
  std::vector<Reach> reach;  // of the leaves
};

/// The least i, then j, with s_i = t_j in the given orders.
template <RealScalar R>
bool find_coincidence(const LineTree<R>& s, const LineTree<R>& t, index_t& i, index_t& j);

}  // namespace structmat::cauchy
