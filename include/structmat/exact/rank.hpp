/// \file
/// Exact ranks of dense matrices of any shape.
#pragma once

#include "structmat/exact/matrix.hpp"

namespace structmat::exact {

/// rank M over F_p. O(m n r) operations for rank r, in BLAS; memory for a copy of M in doubles.
STRUCTMAT_EXPORT index_t rank(const Matrix<PrimeField>& m);

/// rank M over the rationals, by exact elimination of the integers that clearing the denominators
/// of each row leaves.
STRUCTMAT_EXPORT index_t rank(const Matrix<RationalField>& m);

}  // namespace structmat::exact
