/// \file
/// What NaN and Inf add to a product whose other terms have been summed.
#pragma once

#include <vector>

#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

/// Places of the elements that are not finite, in order.
template <Scalar T>
std::vector<index_t> nonfinite_places(const View<const T, 1>& x);

/// y_i += sum of c_{i-j} x_j over the terms in which c_{i-j} or x_j is not finite.
///
/// lags: c_{1-n}, ..., c_{m-1}; bad_lags, bad_x: their places in lags and x. Cost: m for each Inf of x
/// and each infinite lag, as in the sums of the definition; m + n for all NaN together.
template <Scalar T>
void add_nonfinite(const View<const T, 1>& lags, bool conjugated,
                   const std::vector<index_t>& bad_lags, const View<const T, 1>& x,
                   const std::vector<index_t>& bad_x, const View<T, 1>& y);

}  // namespace structmat::toeplitz
