/// \file
/// Norms and inspection of dense matrices.
#pragma once

#include "structmat/core/export.hpp"
#include "structmat/core/view.hpp"

namespace structmat::dense {

/// sqrt(sum |a_ij|^2) in double, scaled so that it neither over- nor underflows. a: any strides.
/// Accuracy: relative error at most about (rows + cols) eps. NaN and Inf give NaN or Inf.
template <Scalar T>
double frobenius_norm(View<const T, 2> a);

/// Throws DomainError "operation: entry (i, j) is nan" for the first entry that is not finite.
template <Scalar T>
void require_finite(const char* operation, View<const T, 2> a);

/// Throws ShapeError "operation: the matrix is 2 x 3, it must be square".
template <Scalar T>
void require_square(const char* operation, View<const T, 2> a);

}  // namespace structmat::dense
