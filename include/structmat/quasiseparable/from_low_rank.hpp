/// \file
/// Quasiseparable matrices from U V^T, with or without a diagonal: transitions 1, orders r.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// M = U V^T (plain transpose, also for complex data).
///
/// u, v: (b or 1, n, r) in, any strides. p = g = U, q = h = V, a = b = 1, d_i = u_i^T v_i.
/// Cost: 2 n r flops, 4 n r + 3 n numbers. Exact but for d: r eps |u_i|^T |v_i|. Throws ShapeError.
template <Scalar T>
Quasiseparable<T, transition::Scalar> from_low_rank(View<const T, 3> u, View<const T, 3> v);

/// M = diag(d) + U V^T.
///
/// d: (b or 1, n) in, u, v: (b or 1, n, r) in, any strides. Cost, accuracy, throws: as from_low_rank.
template <Scalar T>
Quasiseparable<T, transition::Scalar> from_diagonal_plus_low_rank(View<const T, 2> d,
                                                                  View<const T, 3> u,
                                                                  View<const T, 3> v);

}  // namespace structmat::quasiseparable
