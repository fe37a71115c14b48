/// \file
/// Nodes on a line in ascending order, and the binary trees of their halves, on the device.
#pragma once

#include "core/sort.cuh"
#include "core/strided.cuh"
#include "structmat/cauchy/cauchy.hpp"

namespace structmat::gpu::line {

/// Most nodes of a leaf: two for each lane of a warp.
inline constexpr int leaf_size = 64;

/// The nodes of a cell fill [low, high]; half = (high - low) / 2.
template <class R>
struct Interval {
  R low, high, half;
};

/// Several trees of one shape. Cell i of a tree has the children 2 i + 1 and 2 i + 2, each with half
/// of its nodes: where the cells of a level begin follows from their numbers. Nodes and cells of all
/// trees are counted through.
struct Shape {
  index_t trees = 0, n = 0;
  int depth = 0;

  __host__ __device__ index_t cells() const { return (index_t{2} << depth) - 1; }
  __host__ __device__ index_t first_leaf() const { return (index_t{1} << depth) - 1; }
  __host__ __device__ index_t all_nodes() const { return trees * n; }
  __host__ __device__ index_t all_cells() const { return trees * cells(); }

  struct Cell {
    index_t tree, local;  // number in the tree
    int level;
    index_t begin, end;  // of its nodes

    __host__ __device__ int size() const { return static_cast<int>(end - begin); }  // of a leaf
  };
  __device__ Cell cell(index_t id) const {
    const index_t tree = id / cells(), local = id - tree * cells();
    const int level = 63 - __clzll(local + 1);
    const index_t c = local + 1 - (index_t{1} << level), base = tree * n;
    return {tree, local, level, base + (n * c >> level), base + (n * (c + 1) >> level)};
  }
  __device__ bool is_leaf(const Cell& cell) const { return cell.level == depth; }
};

template <class R>
struct TreeView : Shape {
  const R* nodes;                // (trees, n), ascending
  const index_t* order;          // (trees, n): numbers of the nodes as given
  const index_t* rank;           // (trees, n): its inverse, places of the nodes
  const Interval<R>* intervals;  // (trees, cells)
  const std::uint8_t* wide;  // (trees, leaves): may differences with such nodes leave the range?
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
    return {shape_, nodes_.data(), order_.data(), rank_.data(), intervals_.data(), wide_.data()};
  }

 private:
  Shape shape_;
  Array<R, 2, space::cuda> nodes_;
  Array<index_t, 2, space::cuda> order_, rank_;
  Array<Interval<R>, 2, space::cuda> intervals_;
  Array<std::uint8_t, 2, space::cuda> wide_;
};

/// Have rows and columns a node in common? Throws DomainError, on behalf of cauchy::plan, where that
/// is an error. Synchronises.
template <class R>
bool check_coincidence(const TreeView<R>& s, const TreeView<R>& t, Coincidence coincidence,
                       cudaStream_t stream);

}  // namespace structmat::gpu::line
