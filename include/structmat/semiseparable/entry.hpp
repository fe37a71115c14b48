/// \file
/// Single entries, and the whole matrix in dense form, from the definition.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/semiseparable/block_on_device.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat {

/// M_ij of one batch entry; 0 for i < j.
///
/// 0 <= i, j < n; 0 <= batch < m.batch(). Cost: |i-j| r multiplications (Dense, Block: r^2 a
/// transition). Accuracy: componentwise, (|i-j| + r) eps. Only generators that the definition names
/// are read. Throws ShapeError.
template <Scalar T, transition::Uniform K>
T entry(const SemiseparableView<T, K>& m, index_t i, index_t j, index_t batch = 0);
template <Scalar T>
T entry(const Semiseparable<T, transition::Block>& m, index_t i, index_t j, index_t batch = 0);

/// dense := M, so that NaN and Inf reach only the entries that depend on them (Block: the blocks).
///
/// dense: (batch, n, n) out, any strides. Cost: n^2 r multiplications (Dense: n^2 r^2). Accuracy:
/// as entry. Throws ShapeError.
template <Scalar T, transition::Uniform K>
void to_dense(const SemiseparableView<T, K>& m, View<T, 3> dense);
template <Scalar T>
void to_dense(const Semiseparable<T, transition::Block>& m, View<T, 3> dense);

/// dense := M on the device, zeros above the diagonal included: what quasiseparable/entry.hpp says of
/// strides, workspace, cost, accuracy and exceptions holds here.
template <Scalar T, transition::Uniform K>
void to_dense(const exec::cuda& e, const SemiseparableView<T, K, space::cuda>& m,
              View<T, 3, space::cuda> dense);
template <Scalar T>
void to_dense(const exec::cuda& e, const Semiseparable<T, transition::Block, space::cuda>& m,
              View<T, 3, space::cuda> dense);

/// Bytes of device workspace for to_dense; Block: none.
template <Scalar T, transition::Uniform K>
index_t to_dense_workspace_bytes(const SemiseparableView<T, K, space::cuda>& m);
template <Scalar T>
index_t to_dense_workspace_bytes(const Semiseparable<T, transition::Block, space::cuda>& m);

}  // namespace structmat
