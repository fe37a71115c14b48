/// \file
/// Matrices of rationals in F_p and in double precision.
#pragma once

#include "structmat/core/array.hpp"
#include "structmat/exact/matrix.hpp"

namespace structmat::exact {

/// The image of each entry in F_p. Throws DomainError when p divides a denominator.
STRUCTMAT_EXPORT Matrix<PrimeField> reduced(const Matrix<RationalField>& m,
                                            const PrimeField& field);

/// Each entry as the nearest double, or one next to it.
STRUCTMAT_EXPORT Array<double, 2> to_double(const Matrix<RationalField>& m);

/// Each entry as the fraction that it is. m: any strides. Throws DomainError for entries that are
/// not finite.
STRUCTMAT_EXPORT Matrix<RationalField> from_double(View<const double, 2> m);

}  // namespace structmat::exact
