/// \file
/// Long sequences cut into chunks, and the tree over them through which what is in front of a chunk
/// becomes known: what `radix` neighbours do together is found level by level, until at most `radix`
/// are left; then states go down again.
#pragma once

#include <vector>

#include "structmat/core/scalar.hpp"

namespace structmat::quasiseparable::device {

/// Rows of a chunk: of n alone, so that the order of all sums is too.
inline index_t chunk_length(index_t n) {
  return n <= 65536 ? 32 : n <= (index_t{1} << 20) ? 64 : 128;
}

class ChunkTree {
 public:
  ChunkTree(index_t n, index_t length, index_t radix) : radix_(radix) {
    counts_.push_back((n + length - 1) / length);
    while (counts_.back() > radix) counts_.push_back((counts_.back() + radix - 1) / radix);
  }

  int levels() const { return static_cast<int>(counts_.size()); }
  index_t radix() const { return radix_; }
  /// Level 0 are the chunks.
  index_t count(int level) const { return counts_[static_cast<std::size_t>(level)]; }
  /// Of all levels, if there is something to combine at all.
  index_t elements() const {
    index_t sum = 0;
    for (const index_t count : counts_) sum += count;
    return counts_[0] > 1 ? sum : 0;
  }

 private:
  index_t radix_;
  std::vector<index_t> counts_;
};

/// Two neighbouring levels: child j belongs to parent j / radix. Without parents, the children are all
/// there is, and nothing is in front of the first one.
template <class T>
struct Level {
  T *children, *parents;
  index_t child_count, parent_count, radix;
};

/// visit(level) from the chunks to the top, without the top, or back, with it. `elements` holds the
/// levels one after the other, each (batch, count, size).
template <class T, class Visit>
void for_each_level(const ChunkTree& tree, T* elements, index_t batch, index_t size, bool up,
                    const Visit& visit) {
  std::vector<Level<T>> levels;
  for (int level = 0; level < tree.levels(); ++level) {
    const bool top = level + 1 == tree.levels();
    const index_t count = tree.count(level);
    T* const parents = top ? nullptr : elements + batch * count * size;
    levels.push_back({elements, parents, count, top ? 1 : tree.count(level + 1), tree.radix()});
    elements = parents;
  }
  if (up) {
    levels.pop_back();
    for (const Level<T>& level : levels) visit(level);
  } else {
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) visit(*level);
  }
}

}  // namespace structmat::quasiseparable::device
