/// \file
/// Sums and differences of quasiseparable matrices.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// Transitions of a sum: two scalars side by side are diagonal.
template <transition::Uniform K>
using SumTransition =
    std::conditional_t<std::same_as<K, transition::Scalar>, transition::Diagonal, K>;

/// X + Y: p = [p_x; p_y], a = diag(a_x, a_y), q = [q_x; q_y] and likewise above the diagonal, so
/// that orders add up.
///
/// x, y: of the same size; batch extents 1 are broadcast. Cost: O(n r) copies (Dense: n r^2) and n
/// additions a batch entry. Exact but for the additions on the diagonal. Throws ShapeError.
/// Source: Eidelman, Gohberg (1999), section 4.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, SumTransition<K>> add(const QuasiseparableView<T, K>& x,
                                        const QuasiseparableView<T, K>& y);
/// X - Y, with -q_y and -h_y in the place of q_y and h_y. All else as add.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, SumTransition<K>> subtract(const QuasiseparableView<T, K>& x,
                                             const QuasiseparableView<T, K>& y);

template <Scalar T, transition::Uniform K>
Quasiseparable<T, SumTransition<K>> add(const Quasiseparable<T, K>& x,
                                        const Quasiseparable<T, K>& y) {
  return add(x.view(), y.view());
}
template <Scalar T, transition::Uniform K>
Quasiseparable<T, SumTransition<K>> subtract(const Quasiseparable<T, K>& x,
                                             const Quasiseparable<T, K>& y) {
  return subtract(x.view(), y.view());
}

}  // namespace structmat::quasiseparable
