/// \file
/// Sums over 1 / (s_i - t_j) for nodes on a line, in linear time, on the device: the method of
/// src/cauchy/line.hpp.
#pragma once

#include "cauchy/line_lists.cuh"
#include "core/workspace.cuh"

namespace structmat::gpu::line {

/// What one pass over the trees needs beside the plan.
template <class R>
struct PassMemory {
  R* charges;       // (columns, trees, sources), in ascending order of nodes: in
  R* sums;          // (columns, trees, targets), the same: out
  R* proxies;       // (columns, trees, cells of sources, order)
  R* coefficients;  // (columns, trees, cells of targets, order)
  R* far;           // (far units, columns, order)
  R* near;          // (near units, columns, leaf_size)
};

/// One matrix, or several of one shape, without generators.
template <class R>
class Line {
 public:
  /// s: (trees, m); t: (trees, n). Allocates and synchronises. Throws DomainError where a node is
  /// not finite or a coincidence an error, Unsupported beyond 2^31 cells.
  Line(const Strided<const R, 2>& s, const Strided<const R, 2>& t, index_t trees, index_t m,
       index_t n, double tolerance, Coincidence coincidence, cudaStream_t stream);

  /// Of rows, or exchanged.
  TreeView<R> targets(bool exchanged) const { return (exchanged ? cols_ : rows_).view(); }
  TreeView<R> sources(bool exchanged) const { return targets(!exchanged); }

  /// Memory of a pass that suits both ways.
  PassMemory<R> take(Workspace& workspace, index_t columns) const;

  /// sums_i := sum_j charges_j / (s_i - t_j), or exchanged: sums_j := sum_i charges_i / (t_j - s_i).
  /// Neither allocates nor synchronises. There are sources and targets.
  void enqueue(bool exchanged, index_t columns, const PassMemory<R>& memory,
               cudaStream_t stream) const;

 private:
  int order_ = 0;
  Trees<R> rows_, cols_;
  BothLists lists_;
  Array<R, 1, space::cuda> points_;                      // 1 + zeros of T_order
  Array<R, 2, space::cuda> from_moments_, from_values_;  // T_m(point) (m = 0: 1, others: 2) / order
};

}  // namespace structmat::gpu::line
