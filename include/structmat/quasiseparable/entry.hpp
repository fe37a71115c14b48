/// \file
/// Single entries, and the whole matrix in dense form, from the definition.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/quasiseparable/block_on_device.hpp"
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

/// dense := M on the device.
///
/// Any strides of generators and dense (not 0). Enqueues on e.stream, never allocates or synchronises.
/// e.workspace holds to_dense_workspace_bytes(m): 4 numbers a row and state, and a transition for 32
/// rows.
/// Cost: the n^2 entries written once; a product of length r each, and one transition for 32 rows and a
/// column, where the CPU has one for each entry.
/// Accuracy: as entry. NaN and Inf of generators reach only the entries that depend on them. Products of
/// the transitions of up to 32 neighbouring rows must stay in the range of T: where one overflows, the
/// entries that it is part of are not finite, even if a factor zero stands elsewhere in them; where it
/// underflows, they are zero (the CPU multiplies from the row on, entry by entry).
/// Throws NotAvailable without CUDA or a device, Unsupported for a dense with stride 0 and for orders
/// whose states do not fit into shared memory (2560 for double), ShapeError, DomainError (workspace too
/// small, or overlapping dense), BackendError.
template <Scalar T, transition::Uniform K>
void to_dense(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m,
              View<T, 3, space::cuda> dense);
template <Scalar T>
void to_dense(const exec::cuda& e, const Quasiseparable<T, transition::Block, space::cuda>& m,
              View<T, 3, space::cuda> dense);

/// Bytes of device workspace for to_dense; Block: none.
template <Scalar T, transition::Uniform K>
index_t to_dense_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& m);
template <Scalar T>
index_t to_dense_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>& m);

}  // namespace structmat
