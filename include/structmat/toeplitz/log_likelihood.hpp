/// \file
/// The Gaussian log-likelihood of regularly spaced observations of a stationary process, and its
/// gradient, in O(n log^2 n).
#pragma once

#include "structmat/toeplitz/hermitian_inverse.hpp"

namespace structmat::toeplitz {

/// value_b := -(y^H T^-1 y + log det T + n log(2 pi)) / 2.
///
/// column: (batch, n) in, the first column of T; y: (batch, n) in; value: (batch) out. A batch extent 1
/// of column or y is broadcast. Returns the status of HermitianInverse; the value of an entry with a bad
/// pivot is -inf where the pivot is not positive, NaN where it is not finite. Cost, workspace, accuracy:
/// those of HermitianInverse and of one solution. Throws ShapeError; DomainError as HermitianInverse.
template <Scalar T>
PivotStatus log_likelihood(const exec::cpu& e, View<const T, 2> column, View<const T, 2> y,
                           View<double, 1> value, const HermitianOptions& options = {});

/// The value for one matrix and one y of (n), with its status.
struct LogLikelihood {
  double value = 0;
  PivotStatus status;
};
template <Scalar T>
LogLikelihood log_likelihood(View<const T, 1> column, View<const T, 1> y,
                             const HermitianOptions& options = {}) {
  const auto row = [](const View<const T, 1>& v) {
    return View<const T, 2>(v.data(), {1, v.extent(0)}, {0, v.stride(0)});
  };
  LogLikelihood result;
  result.status = log_likelihood(exec::cpu{}, row(column), row(y),
                                 View<double, 1>(&result.value, {1}), options);
  return result;
}

/// The value, and its gradient times value_bar added to cotangents of the first column (convention:
/// hermitian_vjp.hpp) and of y.
///
/// value: (batch) out; value_bar: (batch) in; column_bar, y_bar: (batch, n), or (1, n) for the sum over
/// the batch, added to; each may be empty. Nothing is added for an entry with a bad pivot. The results
/// must not overlap anything else. Cost: that of the value, and 4 transforms of length 2 n an entry.
/// Throws as log_likelihood.
template <Scalar T>
PivotStatus log_likelihood_vjp(const exec::cpu& e, View<const T, 2> column, View<const T, 2> y,
                               View<double, 1> value, View<const double, 1> value_bar,
                               View<T, 2> column_bar, View<T, 2> y_bar,
                               const HermitianOptions& options = {});

}  // namespace structmat::toeplitz
