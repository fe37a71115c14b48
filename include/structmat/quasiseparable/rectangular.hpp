/// \file
/// Rectangular quasiseparable operators: rows and columns of a square quasiseparable matrix,
///
///   R_kl = M_{rows(k), columns(l)},
///
/// such as the covariance between two series of sorted times, whose union is the index set of M. Of
/// the parts of R on either side of a cut through the union, those off the diagonal have the ranks
/// of M. Positions may repeat, and be in any order; a row and a column at the same position meet in
/// a diagonal entry of M.
///
/// Source: Foreman-Mackey, Agol, Ambikasaran, Angus, "Fast and scalable Gaussian process modeling
/// with applications to astronomical time series" (2017), section 5 (prediction).
#pragma once

#include <vector>

#include "structmat/core/apply.hpp"
#include "structmat/quasiseparable/kernel.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat {

/// Generators and positions that somebody else owns. Plain data, checked by the operations.
template <Scalar T, transition::Uniform K>
struct RectangularQuasiseparableView {
  using value_type = T;
  using transition_type = K;

  const RectangularQuasiseparableView& view() const { return *this; }

  QuasiseparableView<T, K> square{};          ///< M, of size N
  View<const index_t, 1> row_positions{};     ///< (m), each in [0, N)
  View<const index_t, 1> column_positions{};  ///< (n), each in [0, N)

  index_t batch() const { return square.batch(); }
  index_t rows() const { return row_positions.extent(0); }
  index_t cols() const { return column_positions.extent(0); }
};

/// An m x n rectangular quasiseparable matrix that owns its parts.
template <Scalar T, class K = transition::Diagonal>
class RectangularQuasiseparable : public OperatorMembers<RectangularQuasiseparable<T, K>, T> {
 public:
  using value_type = T;
  using transition_type = K;

  RectangularQuasiseparable() = default;

  /// Throws DomainError for a position outside of m.
  RectangularQuasiseparable(Quasiseparable<T, K> m, std::vector<index_t> rows,
                            std::vector<index_t> columns);

  Quasiseparable<T, K> square;
  std::vector<index_t> row_positions, column_positions;

  index_t batch() const { return square.batch(); }
  index_t rows() const { return static_cast<index_t>(row_positions.size()); }
  index_t cols() const { return static_cast<index_t>(column_positions.size()); }
  index_t stored() const { return square.stored() + rows() + cols(); }

  RectangularQuasiseparableView<T, K> view() const {
    return {square.view(), row_positions, column_positions};
  }
};

/// y_b := op(R_b) x_b for each batch entry b.
///
/// x: (batch, n, k) in; y: (batch, m, k) out (exchanged for op other than none); any strides; a
/// batch extent 1 of R or x is broadcast. x and y must not overlap.
/// x is added into a vector over the union, M applied, and the result read at the positions. Cost:
/// that of apply for M, O((m + n) r k) where N <= m + n; workspace 2 N k numbers a batch entry.
/// Threads, accuracy and NaN: those of apply for M. Throws ShapeError, DomainError (overlap,
/// positions); before anything is written.
template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const RectangularQuasiseparableView<T, K>& r, Op op,
           View<const T, 3> x, View<T, 3> y);

/// R_ij of one batch entry. 0 <= i < m, 0 <= j < n. Cost and accuracy: entry of M. Throws
/// ShapeError, DomainError (positions).
template <Scalar T, transition::Uniform K>
T entry(const RectangularQuasiseparableView<T, K>& r, index_t i, index_t j, index_t batch = 0);

/// dense := R. dense: (batch, m, n) out, any strides. Cost: m n entries of M, each found from its
/// neighbour in the row: O(m N r) (Dense: r^2). Throws as entry.
template <Scalar T, transition::Uniform K>
void to_dense(const RectangularQuasiseparableView<T, K>& r, View<T, 3> dense);

namespace quasiseparable {

/// R_kl = k(|s_k - t_l|): the covariance between the times s of the rows and t of the columns.
///
/// row_times: (m), column_times: (n) in, any strides, finite, in ascending order; times may repeat,
/// and those that occur in both share an index of the union. Cost, accuracy: those of from_kernel
/// for the union. Throws DomainError, with the index.
STRUCTMAT_EXPORT RectangularQuasiseparable<double, transition::Dense> cross_covariance(
    View<const double, 1> row_times, View<const double, 1> column_times, const Kernel& kernel);

}  // namespace quasiseparable

}  // namespace structmat
