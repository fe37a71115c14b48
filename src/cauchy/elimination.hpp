/// \file
/// Gaussian elimination of a square Cauchy-like matrix on its generators, with O(n r) numbers kept.
///
/// A_ij = g_i . h_j / (s_i - t_j). Step k takes the column with the largest |h_j|, in it the row with
/// the largest entry, and leaves a Schur complement of the same kind:
///   l_i = g_i . h_k / (s_i - t_k),  g_i -= (l_i / d_k) g_k,
///   u_j = g_k . h_j / (s_k - t_j),  h_j -= (u_j / d_k) h_k,   d_k = l_k = u_k,
///   A(row order, column order) = L diag(1/d) U,  L and U with the diagonal d.
/// For A_ij = 1 / (s_i - t_j) the updates are products, without cancellation:
///   g_i *= (s_i - s_k) / (s_i - t_k),  h_j *= (t_j - t_k) / (t_j - s_k),
///   l_i = g_i / (s_i - t_k),  u_j = h_j / (s_k - t_j),  A = L diag(s_k - t_k) U.
///
/// Row i of L follows from the first g_i and what the pivots k < i were, column j of U likewise: the
/// factors are written again whenever they are needed, a panel of a few rows or columns at a time.
///
/// Every few steps the columns of G are made orthonormal, G R^-1 R H^T, so that ||H|| stays the size
/// of the displacement of the Schur complement (Gu 1998). These steps are kept as events.
///
/// Source: Gohberg, Kailath, Olshevsky, Math. Comp. 64 (1995); Gu, SIAM J. Matrix Anal. Appl. 19
/// (1998); Boros, Kailath, Olshevsky, Linear Algebra Appl. 302/303 (1999).
#pragma once

#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/status.hpp"

namespace structmat::cauchy {

/// Real numbers in a lane block: two 512-bit registers of two parts each fit the panels.
template <class R>
inline constexpr int lane_width = int(64 / sizeof(R));

/// Nodes on the real line.
template <RealScalar R>
struct LineNode {
  using Real = R;
  static constexpr int fields = 1;
  R value = 0;
};

/// Nodes on the unit circle, s = (1 + i x) / (1 - i x), given by x in twice the precision:
///   1 / (s - t) = (1 - i x) (1 - i y) / (2i (x - y)),
/// so that close nodes have differences with all their digits, and a division is real. The factor
/// 1 / 2i is left to the generators.
template <RealScalar R>
struct CircleNode {
  using Real = R;
  static constexpr int fields = 2;
  R value = 0, rest = 0;
};

/// Nodes in the plane.
template <RealScalar R>
struct PlaneNode {
  using Real = R;
  static constexpr int fields = 2;
  R re = 0, im = 0;
};

/// The numbers of one side (rows or columns) in blocks of lanes: block b holds generator l of its
/// lanes at x[(b order + l) reals], field f of their nodes at node[(b fields + f) W].
template <Scalar T, class Node>
struct Side {
  using R = real_t<T>;
  static constexpr int W = lane_width<R>;
  static constexpr int reals = is_complex_v<T> ? 2 * W : W;

  Side() = default;
  Side(index_t n, index_t order);

  index_t blocks() const { return (n + W - 1) / W; }
  T get(index_t i, index_t l) const { return number(x.data() + (i / W * order + l) * reals, i); }
  void set(index_t i, index_t l, const T& value) {
    assign(x.data() + (i / W * order + l) * reals, i, value);
  }
  Node node_at(index_t i) const;
  void set_node(index_t i, const Node& value);
  /// Lanes beyond n take the node of lane n - 1 and generators 0.
  void pad();

  static T number(const R* block, index_t i) {
    const R* p = block + i % W;
    if constexpr (is_complex_v<T>) {
      return {p[0], p[W]};
    } else {
      return *p;
    }
  }
  static void assign(R* block, index_t i, const T& value) {
    R* p = block + i % W;
    if constexpr (is_complex_v<T>) {
      p[0] = value.real();
      p[W] = value.imag();
    } else {
      *p = value;
    }
  }

  index_t n = 0, order = 0;
  Array<R, 1> x, node;
};

/// The matrix to be factored. cauchy: order 1, all generators 1.
template <Scalar T, class Node>
struct Problem {
  Side<T, Node> rows, cols;
  bool cauchy = false;
};

/// What panels of one factor need: its lines in the order of the pivots, and for each pivot
/// its node (2 numbers), the node of the line itself that was the pivot (2), the vectors `dot` and
/// `update` (order numbers of T each).
template <Scalar T, class Node>
struct Factor {
  Side<T, Node> lines;
  Array<real_t<T>, 2> pivots;
  std::vector<index_t> order;  ///< position -> index of the problem
  Array<T, 1> diagonal;
};

/// A(lower.order, upper.order) = L diag(middle) U.
template <Scalar T, class Node>
class Elimination {
 public:
  using R = real_t<T>;
  using value_type = T;

  explicit Elimination(Problem<T, Node> problem);

  index_t size() const { return n_; }
  const PivotStatus& status() const { return status_; }
  /// The largest ||G|| ||H|| of a Schur complement, relative to that of the matrix with orthonormal G.
  double growth() const { return growth_; }

  /// columns := op(A)^-1 columns; columns: (k, n), right-hand sides contiguous.
  void solve(Op op, View<T, 2> columns) const;
  /// Keeps P A Q = L1 U1 as LAPACK does, n^2 numbers, for solve() to use. Nothing without factors.
  void store();
  LogDeterminant<T> log_determinant() const;

  const std::vector<index_t>& row_order() const { return lower_.order; }
  const std::vector<index_t>& col_order() const { return upper_.order; }

 private:
  struct Event {
    index_t step;               ///< before it
    std::vector<T> rows, cols;  ///< x := x rows^-1 (upper triangular), x := cols x
  };
  struct Run;

  template <class Visit>
  void panels(const Factor<T, Node>& f, bool is_lower, bool backward, const Visit& visit) const;

  index_t n_ = 0, order_ = 0;
  bool cauchy_ = false;
  Factor<T, Node> lower_, upper_;
  Array<T, 1> middle_;
  Array<T, 2> stored_;  ///< column-major
  std::vector<Event> events_;
  PivotStatus status_;
  double growth_ = 1;
};

/// The status of the first batch entry without factors, or else of the first that is not ok.
PivotStatus first_status(const std::vector<PivotStatus>& entries);

}  // namespace structmat::cauchy
