/// \file
/// Nodes on a line in ascending order, and the binary trees of their halves, on the device.
#pragma once

#include "core/sort.cuh"
#include "core/strided.cuh"
#include "structmat/cauchy/cauchy.hpp"

namespace structmat::gpu::line {

/// Most nodes of a leaf: two for each lane of a warp.
inline constexpr int leaf_size = 64;

/// The nodes of a cell fill [low, high], which lies in an interval around a number of the type that
/// holds them.
template <class R>
struct Interval {
  R low, high, center, half;
};

/// Several trees of one shape. Cell i of a tree has the children 2 i + 1 and 2 i + 2, each with half
/// of its nodes: where the cells of a level begin follows from their numbers. Cells of all trees are
/// counted through.
template <class R>
struct TreeView {
  const R* nodes;                // (trees, n), ascending
  const index_t* order;          // (trees, n): numbers of the nodes as given
  const Interval<R>* intervals;  // (trees, cells)
  const std::uint8_t* wide;  // (trees, leaves): may differences with such nodes leave the range?
  index_t trees, n;
  int depth;

  __host__ __device__ index_t cells() const { return (index_t{2} << depth) - 1; }
  __host__ __device__ index_t first_leaf() const { return (index_t{1} << depth) - 1; }

  struct Cell {
    index_t tree, begin;  // the first of its nodes, within the tree
    int size;
    bool leaf;
  };
  /// `level` of cell `local` of a tree.
  static __device__ int level_of(index_t local) { return 63 - __clzll(local + 1); }
  /// Its size is exact in leaves, and otherwise that of a leaf or more.
  __device__ Cell cell(index_t id) const {
    const index_t tree = id / cells(), local = id - tree * cells();
    const int level = level_of(local);
    const index_t c = local + 1 - (index_t{1} << level);
    const index_t begin = n * c >> level, end = n * (c + 1) >> level;
    return {tree, begin, static_cast<int>(end - begin < leaf_size ? end - begin : leaf_size),
            level == depth};
  }
};

/// Owns them.
template <class R>
class Trees {
 public:
  Trees() = default;

  /// nodes: (trees, n). `name` is that of the nodes in messages. Allocates and synchronises. Throws
  /// DomainError, on behalf of cauchy::plan, where a node is not finite, or differences could
  /// overflow.
  Trees(const Strided<const R, 2>& nodes, index_t trees, index_t n, const char* name,
        cudaStream_t stream);

  TreeView<R> view() const {
    return {nodes_.data(), order_.data(), intervals_.data(), wide_.data(), trees_, n_, depth_};
  }

 private:
  index_t trees_ = 0, n_ = 0;
  int depth_ = 0;
  Array<R, 2, space::cuda> nodes_;
  Array<index_t, 2, space::cuda> order_;
  Array<Interval<R>, 2, space::cuda> intervals_;
  Array<std::uint8_t, 2, space::cuda> wide_;
};

/// Have rows and columns a node in common? Throws DomainError, on behalf of cauchy::plan, where that
/// is an error. Synchronises.
template <class R>
bool check_coincidence(const TreeView<R>& s, const TreeView<R>& t, Coincidence coincidence,
                       cudaStream_t stream);

}  // namespace structmat::gpu::line
