#include "structmat/toeplitz/log_likelihood.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/instantiate.hpp"
#include "structmat/core/shape.hpp"
#include "structmat/toeplitz/hermitian_vjp.hpp"
#include "toeplitz/correlation.hpp"

namespace structmat::toeplitz {
namespace {

/// The values, and alpha = T^-1 y. y: (batch, n).
template <Scalar T>
void values(const exec::cpu& e, const HermitianInverse<T>& inverse, const View<const T, 2>& y,
            const View<double, 1>& value, const View<T, 2>& alpha) {
  const index_t batch = y.extent(0), n = y.extent(1);
  const View<const T, 3> columns(y.data(), {batch, n, 1}, {y.stride(0), y.stride(1), 1});
  apply(e, inverse.formula(), Op::none, columns, View<T, 3>(alpha.data(), {batch, n, 1}));
  for (index_t b = 0; b < batch; ++b) {
    const index_t matrix = inverse.batch() == 1 ? 0 : b;
    const PivotStatus status = inverse.status(matrix);
    if (!status.ok()) {
      value(b) = status.kind == PivotStatus::Kind::not_finite
                     ? std::numeric_limits<double>::quiet_NaN()
                     : -std::numeric_limits<double>::infinity();
      continue;
    }
    double square = 0;
    for (index_t i = 0; i < n; ++i) {
      square += static_cast<double>(std::real(conjugate_product<T>(y(b, i), alpha(b, i))));
    }
    value(b) = -0.5 * (square + inverse.log_determinant(matrix).log_abs +
                       static_cast<double>(n) * std::log(2 * std::numbers::pi));
  }
}

/// The common batch of column and y. Throws ShapeError.
template <Scalar T>
detail::Shape checked_shape(const char* operation, const View<const T, 2>& column,
                            const View<const T, 2>& y) {
  const index_t n = column.extent(1);
  detail::Shape shape(operation, 1);
  shape.require("column", column, {n});
  shape.require("y", y, {n});
  return shape;
}

}  // namespace

template <Scalar T>
PivotStatus log_likelihood(const exec::cpu& e, View<const T, 2> column, View<const T, 2> y,
                           View<double, 1> value, const HermitianOptions& options) {
  const char* const operation = "toeplitz::log_likelihood";
  const index_t batch = checked_shape(operation, column, y).batch();
  detail::require_extents<double, 1, space::host>(operation, value, {batch});
  const HermitianInverse<T> inverse(column, options, e);
  Array<T, 2> alpha({batch, column.extent(1)}, uninitialized);
  values(e, inverse, y.broadcast(0, batch), value, alpha.view());
  return inverse.status();
}

template <Scalar T>
PivotStatus log_likelihood_vjp(const exec::cpu& e, View<const T, 2> column, View<const T, 2> y,
                               View<double, 1> value, View<const double, 1> value_bar,
                               View<T, 2> column_bar, View<T, 2> y_bar,
                               const HermitianOptions& options) {
  const char* const operation = "toeplitz::log_likelihood_vjp";
  const index_t n = column.extent(1);
  detail::Shape shape = checked_shape(operation, column, y);
  const index_t batch = shape.batch();
  if (column_bar.data() != nullptr) shape.require("column_bar", column_bar, {n});
  if (y_bar.data() != nullptr) shape.require("y_bar", y_bar, {n});
  if (shape.batch() != batch) {
    throw ShapeError(std::string(operation) + ": gradients have batch " +
                     std::to_string(shape.batch()) + ", the values have " + std::to_string(batch));
  }
  detail::require_extents<double, 1, space::host>(operation, value, {batch});
  detail::require_extents<const double, 1, space::host>(operation, value_bar, {batch});

  const HermitianInverse<T> inverse(column, options, e);
  Array<T, 2> alpha({batch, n}, uninitialized);
  values(e, inverse, y.broadcast(0, batch), value, alpha.view());
  const auto at = [](const auto& view, index_t b) {
    return view.select(0, view.extent(0) == 1 ? 0 : b);
  };
  HermitianCorrelation<T> correlation(inverse.formula().plan(), n);
  for (index_t b = 0; b < batch && n > 0; ++b) {
    const index_t matrix = inverse.batch() == 1 ? 0 : b;
    if (!inverse.status(matrix).ok()) continue;
    const View<const T, 1> a = std::as_const(alpha).view().select(0, b);
    if (column_bar.data() != nullptr) {
      // The cotangent of the matrix is (alpha alpha^H - T^-1) / 2.
      correlation.add(a, a);
      correlation.take(static_cast<real_t<T>>(0.5 * value_bar(b)), at(column_bar, b));
      log_determinant_vjp(inverse, matrix, -0.5 * value_bar(b), at(column_bar, b));
    }
    if (y_bar.data() == nullptr) continue;
    const View<T, 1> target = at(y_bar, b);
    for (index_t i = 0; i < n; ++i) target(i) -= static_cast<real_t<T>>(value_bar(b)) * a(i);
  }
  return inverse.status();
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template STRUCTMAT_EXPORT PivotStatus log_likelihood(const exec::cpu&, View<const T, 2>, \
                                                       View<const T, 2>, View<double, 1>,  \
                                                       const HermitianOptions&);           \
  template STRUCTMAT_EXPORT PivotStatus log_likelihood_vjp(                                \
      const exec::cpu&, View<const T, 2>, View<const T, 2>, View<double, 1>,               \
      View<const double, 1>, View<T, 2>, View<T, 2>, const HermitianOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
