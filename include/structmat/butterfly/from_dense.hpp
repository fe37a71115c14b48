/// \file
/// The nearest Monarch matrix.
#pragma once

#include "structmat/butterfly/monarch.hpp"

namespace structmat::monarch {

struct FromDenseOptions {
  index_t column_blocks = 1;  ///< k; n = k p
  index_t row_blocks = 1;     ///< l; m = l s
  /// The rank of the blocks: q = l order, r = k order.
  index_t order = 1;
};

/// Result of from_dense.
template <Scalar T>
struct FromDense {
  Monarch<T> matrix;
  double truncation_error = 0;  ///< ||M - matrix||_F up to rounding
  double frobenius_norm = 0;    ///< of M
};

/// The Monarch matrix of these block counts nearest to M in the Frobenius norm.
///
/// m: (m, n) in, any strides, finite. The block with rows lambda mod l and columns kappa p to
/// kappa p + p - 1 may be any matrix of rank `order`: each is truncated by a singular value
/// decomposition of its own. Cost: O(m n min(s, p)) flops. Accuracy: relative to ||M||_F, c sqrt(m n)
/// eps. Throws ShapeError (extents that the block counts do not divide), DomainError (block counts
/// below 1, a negative order, NaN or Inf with its place), BackendError. Source: Dao et al. (2022),
/// Theorem 1.
template <Scalar T>
FromDense<T> from_dense(View<const T, 2> m, const FromDenseOptions& options);

template <Scalar T>
FromDense<T> from_dense(View<T, 2> m, const FromDenseOptions& options) {
  return from_dense(View<const T, 2>(m), options);
}
template <Scalar T>
FromDense<T> from_dense(const Array<T, 2>& m, const FromDenseOptions& options) {
  return from_dense(m.view(), options);
}

}  // namespace structmat::monarch
