/// \file
/// Which cells of sources a cell of targets takes its sums from.
#pragma once

#include "cauchy/line_tree.cuh"

namespace structmat::gpu::line {

/// What a cell of targets takes from a cell of sources: proxies or, in a leaf, nodes.
struct Term {
  index_t first;        // of the nodes or proxies, counted through all trees
  std::int32_t source;  // the cell
  std::int16_t count;
  bool proxies, wide;  // wide: reciprocals with care
};

/// A few terms of one cell of targets: what one warp sums.
struct Unit {
  std::int32_t cell;
  std::int32_t count;
  index_t first;  // of the terms
};

/// Units are `near` where targets are the nodes of a leaf, `far` where they are proxies. Near ones come
/// first; the units of one cell follow each other.
struct ListsView {
  const Term* terms;
  const Unit* units;
  const std::uint64_t*
      first_unit;  // of near cell c: c; of far cell c: cells + c; one more at the end
  index_t near, units_count, cells;
};

class Lists {
 public:
  Lists() = default;
  Lists(Array<Term, 1, space::cuda> terms, Array<Unit, 1, space::cuda> units,
        Array<std::uint64_t, 1, space::cuda> first_unit, index_t near)
      : terms_(std::move(terms)),
        units_(std::move(units)),
        first_unit_(std::move(first_unit)),
        near_(near) {}

  ListsView view() const {
    return {terms_.data(), units_.data(), first_unit_.data(),
            near_,         units_.size(), (first_unit_.size() - 1) / 2};
  }

 private:
  Array<Term, 1, space::cuda> terms_;
  Array<Unit, 1, space::cuda> units_;
  Array<std::uint64_t, 1, space::cuda> first_unit_;
  index_t near_ = 0;
};

struct BothLists {
  Lists by_row, by_col;
};

/// Pairs of cells that together are all pairs of nodes, by the rules of cauchy/line_rules.hpp.
/// Allocates and synchronises. Throws Unsupported beyond 2^31 cells or pairs.
template <class R>
BothLists make_lists(const TreeView<R>& rows, const TreeView<R>& cols, double opening, int order,
                     bool coincide, cudaStream_t stream);

}  // namespace structmat::gpu::line
