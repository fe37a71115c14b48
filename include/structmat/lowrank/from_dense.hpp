/// \file
/// The nearest matrix of low rank.
#pragma once

#include <optional>

#include "structmat/lowrank/low_rank.hpp"

namespace structmat::lowrank {

struct FromDenseOptions {
  /// ||M - U V^T||_F <= tolerance ||M||_F, where the order allows it. Unset: max(m, n) eps.
  std::optional<double> tolerance{};
  /// Largest order.
  std::optional<index_t> order{};
};

/// Result of from_dense.
template <Scalar T>
struct FromDense {
  LowRank<T> matrix;
  /// sqrt of the sum of all squared singular values that were dropped: ||M - matrix||_F up to
  /// rounding.
  double truncation_error = 0;
  /// What rounding may add to it.
  double rounding_bound = 0;
  double frobenius_norm = 0;  ///< of M
};

/// U V^T ~ M of the smallest order that the options allow: a truncated singular value decomposition,
/// V with conjugated orthonormal columns, U = M conj(V).
///
/// m: (m, n) in, any strides, finite. Cost: O(m n min(m, n)) flops, workspace O(m n). Accuracy:
/// ||M - matrix||_F <= truncation_error + rounding_bound; nothing of that order is nearer. Throws
/// DomainError (NaN or Inf in m, with its place; a negative or NaN tolerance or order),
/// BackendError. Source: Eckart, Young, "The approximation of one matrix by another of lower rank",
/// Psychometrika 1 (1936).
template <Scalar T>
FromDense<T> from_dense(View<const T, 2> m, const FromDenseOptions& options = {});

template <Scalar T>
FromDense<T> from_dense(View<T, 2> m, const FromDenseOptions& options = {}) {
  return from_dense(View<const T, 2>(m), options);
}
template <Scalar T>
FromDense<T> from_dense(const Array<T, 2>& m, const FromDenseOptions& options = {}) {
  return from_dense(m.view(), options);
}

}  // namespace structmat::lowrank
