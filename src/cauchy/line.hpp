/// \file
/// Sums over 1 / (s_i - t_j) for nodes on a line, in linear time.
#pragma once

#include "cauchy/chebyshev.hpp"
#include "cauchy/line_tree.hpp"
#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/exec.hpp"

namespace structmat::cauchy {

/// y_i = sum_j x_j / (s_i - t_j) for real s (m) and t (n), and the same with exchanged roles.
///
/// Both sets of nodes are halved into trees. A pair of cells whose intervals are apart, measured by
/// their own sizes, exchanges p proxies at Chebyshev points instead of all nodes; both together are
/// then a sum of p terms at p points, which is computed as any other, pair by pair. So no
/// translation is stored, and cells need no grid: intervals are those that the nodes fill.
///
/// Accuracy: |error_i| <= c (tolerance + log(n) eps) sum_j |x_j| / |s_i - t_j|, see chebyshev.hpp.
/// Cost: O((m + n) log(1 / tolerance)) a column after sorting. Workspace: O(m + n) a column.
template <RealScalar R>
class Line {
 public:
  /// Throws DomainError where a node is not finite, or a coincidence an error (of batch entry `batch`,
  /// the message says).
  Line(const exec::cpu& e, const View<const R, 1>& s, const View<const R, 1>& t, double tolerance,
       Coincidence coincidence, index_t batch = 0);

  index_t rows() const { return rows_.size(); }
  index_t cols() const { return cols_.size(); }

  /// Reciprocals that a product takes.
  index_t pairs() const;

  /// y := C x. x: (n, k) in; y: (m, k) out; no overlap. Non-finite x reaches any y.
  void apply(const exec::cpu& e, const View<const R, 2>& x, const View<R, 2>& y) const;
  /// y_j := sum_i x_i / (t_j - s_i), which is -C^T x. x: (m, k) in; y: (n, k) out.
  void apply_exchanged(const exec::cpu& e, const View<const R, 2>& x, const View<R, 2>& y) const;

 private:
  /// What a cell of targets takes from a cell of sources.
  struct Term {
    std::int32_t source;
    bool target_proxies, source_proxies;
  };
  /// The terms of each cell of targets, in a fixed order.
  struct Terms {
    std::vector<index_t> start;
    std::vector<Term> terms;
  };
  struct Pair;
  struct Sweep;

  void collect(index_t row, index_t col, std::vector<Pair>& pairs) const;
  void apply_columns(const exec::cpu& e, const LineTree<R>& targets, const LineTree<R>& sources,
                     const Terms& terms, const View<const R, 2>& x, const View<R, 2>& y) const;
  void apply_group(int team, const LineTree<R>& targets, const LineTree<R>& sources,
                   const Terms& terms, const View<const R, 2>& x, const View<R, 2>& y) const;

  double opening_;  // how far, in half widths from its center, a cell must be
  Chebyshev<R> chebyshev_;
  LineTree<R> rows_, cols_;
  bool coincide_ = false;
  Terms by_row_, by_col_;
};

}  // namespace structmat::cauchy
