/// \file
/// Single entries, and the whole matrix in dense form, from the definition.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat {

/// M_ij of one batch entry.
///
/// 0 <= i, j < n; 0 <= batch < m.batch(). Cost: |i-j| r multiplications (Dense, Block: r^2 a
/// transition). Accuracy: componentwise, (|i-j| + r) eps. Only generators that the definition names
/// are read. Throws ShapeError.
template <Scalar T, transition::Uniform K>
T entry(const QuasiseparableView<T, K>& m, index_t i, index_t j, index_t batch = 0);
template <Scalar T>
T entry(const Quasiseparable<T, transition::Block>& m, index_t i, index_t j, index_t batch = 0);

/// dense := M, so that NaN and Inf reach only the entries that depend on them (Block: the blocks).
///
/// dense: (batch, n, n) out, any strides. Cost: n^2 r multiplications (Dense: n^2 r^2). Accuracy:
/// as entry. Throws ShapeError.
template <Scalar T, transition::Uniform K>
void to_dense(const QuasiseparableView<T, K>& m, View<T, 3> dense);
template <Scalar T>
void to_dense(const Quasiseparable<T, transition::Block>& m, View<T, 3> dense);

}  // namespace structmat
