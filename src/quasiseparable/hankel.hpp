/// \file
/// The Hankel matrix of a vector of lags, as realisation needs it: its leading right singular
/// vectors, without forming it where it is large.
#pragma once

#include "structmat/core/array.hpp"

namespace structmat::quasiseparable {

/// H ~ U diag(values) V^H.
template <Scalar T>
struct RightSingular {
  Array<real_t<T>, 1> values;  ///< (k), descending
  Array<T, 2> vectors;         ///< V: (q, k)
};

/// Of H_ij = lags(i + j), p x q with p + q - 1 = m and q = p or p + 1.
///
/// The whole decomposition for m <= direct. Otherwise as many vectors as it takes for the last
/// singular value to fall below `smallest` or 10 eps sigma_1, and `most` at most.
template <Scalar T>
RightSingular<T> right_singular(View<const T, 1> lags, index_t direct, double smallest,
                                index_t most);

}  // namespace structmat::quasiseparable
