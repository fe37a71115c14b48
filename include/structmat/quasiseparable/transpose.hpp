/// \file
/// M^T and M^H as quasiseparable matrices. (Products with them need none: see apply_transpose.)
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// The generators of M^T without a copy: p = h, a = b^T, q = g and the other way round.
template <Scalar T, transition::Uniform K, class Space>
QuasiseparableView<T, K, Space> transposed(const QuasiseparableView<T, K, Space>& m) {
  const auto turn = [](const View<const T, K::rank, Space>& a) {
    if constexpr (K::rank == 4) return a.transposed();
    return a;
  };
  return {m.h, m.g, turn(m.b), m.d, m.q, m.p, turn(m.a)};
}

/// M^T, no conjugation; the orders change places.
///
/// Cost: O(n r) copies (Dense: n r^2) a batch entry. Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> transpose(const QuasiseparableView<T, K>& m);
/// M^H, the transpose with all generators conjugated. All else as transpose.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> adjoint(const QuasiseparableView<T, K>& m);

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> transpose(const Quasiseparable<T, K>& m) {
  return transpose(m.view());
}
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> adjoint(const Quasiseparable<T, K>& m) {
  return adjoint(m.view());
}

}  // namespace structmat::quasiseparable
