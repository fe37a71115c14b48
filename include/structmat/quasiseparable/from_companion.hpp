/// \file
/// Companion matrices in generator form: orders (1, 1), whatever their size.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// M_{i+1,i} = 1, M_{i,n-1} = -c_i: the matrix whose characteristic polynomial is
/// x^n + c_{n-1} x^{n-1} + ... + c_0.
///
/// coefficients: (b, n) in, c_0 first, any strides. Orders (1, 1); a = 0, b = 1. Cost: 7 n numbers.
/// Exact. Throws ShapeError (a size beyond the address space).
template <Scalar T>
Quasiseparable<T, transition::Scalar> from_companion(View<const T, 2> coefficients);

}  // namespace structmat::quasiseparable
