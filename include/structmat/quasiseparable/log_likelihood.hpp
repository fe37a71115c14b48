/// \file
/// The Gaussian log-likelihood of observations whose covariance is a Hermitian quasiseparable
/// matrix, and its gradient, in O(n).
#pragma once

#include "structmat/quasiseparable/cotangent.hpp"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {

/// value_b := -(y^H M^{-1} y + log det M + n log(2 pi)) / 2.
///
/// m: as for factor_ldl, positive definite; y: (batch, n) in; value: (batch) out. A batch extent 1
/// of m or y is broadcast. Returns the status of factor_ldl; the value of an entry with a bad pivot
/// is -inf where the pivot is not positive, NaN where it is not finite.
/// Cost: that of factor_ldl and one triangular solve, which take turns while rows are in cache.
/// Workspace: n r numbers. Threads: over the batch. Accuracy: that of factor_ldl; sums in double.
/// Throws ShapeError; DomainError (see factor_ldl).
template <Scalar T, transition::Uniform K>
PivotStatus log_likelihood(const exec::cpu& e, const QuasiseparableView<T, K>& m,
                           View<const T, 2> y, View<double, 1> value);

/// The same on the device: value and status are (batch) out, in device memory; status as for
/// factor_ldl there. Enqueues on e.stream, never allocates or synchronises; e.workspace:
/// log_likelihood_workspace_bytes, n (r + 2) numbers and what chunks need. Cost: that of factor_ldl and
/// solve_lower there, and a sum in a fixed order. Throws what they throw.
template <Scalar T, transition::Uniform K>
void log_likelihood(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m,
                    View<const T, 2, space::cuda> y, View<double, 1, space::cuda> value,
                    View<PivotStatus, 1, space::cuda> status);

/// Bytes of device workspace for log_likelihood; batch: of y.
template <Scalar T, transition::Uniform K>
index_t log_likelihood_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& m,
                                       index_t batch = 1);

/// The value for one matrix and one y of (n), with its status.
struct LogLikelihood {
  double value = 0;
  PivotStatus status;
};
template <Scalar T, class K>
LogLikelihood log_likelihood(const Quasiseparable<T, K>& m, View<const T, 1> y) {
  LogLikelihood result;
  result.status = log_likelihood(exec::cpu{}, m.view(),
                                 View<const T, 2>(y.data(), {1, y.extent(0)}, {0, y.stride(0)}),
                                 View<double, 1>(&result.value, {1}));
  return result;
}

/// The value, and its gradient times value_bar added to cotangents of the generators p, a, q, d of
/// the lower triangle and of y (conventions: cotangent.hpp, ldl_vjp.hpp).
///
/// value: (batch) out; value_bar: (batch) in; gradient: p, a, q, d are added to; y_bar: (batch or 1,
/// n), added to; each of them may be empty. Nothing is added for an entry with a bad pivot. The
/// results must not overlap anything else.
/// Cost: about four times that of the value. Workspace: n r (1 + r / 64) numbers. Threads: over the
/// batch, one if a gradient is summed over it. Throws as log_likelihood.
template <Scalar T, transition::Uniform K>
PivotStatus log_likelihood_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m,
                               View<const T, 2> y, View<double, 1> value,
                               View<const double, 1> value_bar,
                               const QuasiseparableCotangent<T, K>& gradient, View<T, 2> y_bar);

}  // namespace structmat::quasiseparable
