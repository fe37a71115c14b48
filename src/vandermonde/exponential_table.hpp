/// \file
/// Tables of exp(l step a) for 0 <= l < count.
#pragma once

#include <vector>

#include "structmat/core/scalar.hpp"

namespace structmat::vandermonde {

/// The type that exponentials are computed in.
template <Scalar T>
using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;

/// table[l] = exp(l step a), with about 2 sqrt(count) exponentials and a product for each entry.
/// Relative error 4 eps of double. For growing exponentials no factor is above the product, so that
/// only entries beyond the range overflow.
template <class W>
void exponential_table(const W& a, index_t step, index_t count, std::vector<W>& table);

}  // namespace structmat::vandermonde
