/// \file
/// Single entries, and the whole matrix in dense form.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat {

namespace quasiseparable {

template <Scalar T, transition::Uniform K>
T entry(const QuasiseparableView<T, K>& m, index_t batch, index_t i, index_t j);
template <Scalar T>
T entry(const Quasiseparable<T, transition::Block>& m, index_t batch, index_t i, index_t j);

template <Scalar T, transition::Uniform K>
void to_dense(const QuasiseparableView<T, K>& m, View<T, 3> dense);
template <Scalar T>
void to_dense(const Quasiseparable<T, transition::Block>& m, View<T, 3> dense);

}  // namespace quasiseparable

/// M_ij of batch entry `batch`, from its definition.
///
/// 0 <= i, j < n; 0 <= batch < m.batch(). Cost: |i-j| r (Dense: r^2) multiplications. Accuracy: componentwise
/// (|i-j| + r) eps. Only generators that the definition names are read. Throws ShapeError.
template <QuasiseparableMatrix M>
auto entry(const M& m, index_t i, index_t j, index_t batch = 0) {
  return quasiseparable::entry(detail::generators(m), batch, i, j);
}

/// dense := M, entry by entry from the definition, so that NaN and Inf reach only the entries that depend on them.
///
/// dense: (batch, n, n) out, any strides (or (n, n) with batch 1). Cost: n^2 r multiplications (Dense: n^2 r^2).
/// Accuracy: as entry. Throws ShapeError.
template <QuasiseparableMatrix M>
void to_dense(const M& m, View<typename M::value_type, 3> dense) {
  quasiseparable::to_dense(detail::generators(m), dense);
}
template <QuasiseparableMatrix M>
Array<typename M::value_type, 3> to_dense(const M& m) {
  const index_t n = m.size();
  Array<typename M::value_type, 3> dense({m.batch(), n, n}, uninitialized);
  to_dense(m, dense.view());
  return dense;
}

}  // namespace structmat
