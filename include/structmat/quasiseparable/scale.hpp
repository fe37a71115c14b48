/// \file
/// Multiples of quasiseparable matrices, by a number or by diagonal matrices from both sides.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// alpha M: alpha goes into d, q and h; orders stay.
///
/// Cost: O(n r) (Dense: n r^2 copies) a batch entry. Accuracy: one rounding a generator. Throws
/// ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> scale(const T& alpha, const QuasiseparableView<T, K>& m);

/// diag(left) M diag(right): left goes into p, d and g, right into q, d and h; orders stay.
///
/// left, right: (1 or batch, n) in, any strides; batch extents 1 are broadcast, of m as well. Cost:
/// O(n r) (Dense: n r^2 copies) a batch entry. Accuracy: one rounding a generator, two for d. Throws
/// ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> scale_diagonal(View<const T, 2> left, const QuasiseparableView<T, K>& m,
                                    View<const T, 2> right);

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> scale(const T& alpha, const Quasiseparable<T, K>& m) {
  return scale(alpha, m.view());
}
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> scale_diagonal(const Array<T, 2>& left, const Quasiseparable<T, K>& m,
                                    const Array<T, 2>& right) {
  return scale_diagonal(left.view(), m.view(), right.view());
}

}  // namespace structmat::quasiseparable
