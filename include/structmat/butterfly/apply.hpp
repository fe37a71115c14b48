/// \file
/// y := M x, y := M^T x and y := M^H x for butterfly and Monarch matrices. The calls without Op are
/// in core/apply.hpp.
#pragma once

#include "structmat/butterfly/butterfly.hpp"
#include "structmat/butterfly/monarch.hpp"

namespace structmat {

/// y_b := op(M_b) x_b for each batch entry b.
///
/// x: (batch, n, k) in; y: (batch, m, k) out, m and n exchanged for the transpose; any strides; a
/// batch extent 1 of M or x is broadcast. x and y must not overlap.
/// Cost: 3 N log2 N flops a stage and right-hand side, reading 2 N log2 N numbers of M once for 8
/// right-hand sides. Workspace: 8 N numbers per thread.
/// Threads: over batch and right-hand sides. The result does not depend on their number, bit for bit.
/// Accuracy: componentwise, |error| <= c stages log2 N eps |F_last| ... |F_0| |x|. NaN and Inf reach
/// outputs that depend on them.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
/// Source: Dao et al. (2019), section 3.
template <Scalar T>
void apply(const exec::cpu& e, const ButterflyView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

/// y_b := op(M_b) x_b for each batch entry b.
///
/// x: (batch, n, k) in; y: (batch, m, k) out, m and n exchanged for the transpose; any strides; a
/// batch extent 1 of M or x is broadcast. x and y must not overlap.
/// Cost: 2 k (size of w1 + size of w2) flops in one small product by BLAS for each block: 4 n^1.5 for
/// n = b^2. Workspace: an intermediate of k q numbers a right-hand side, and copies of what is not
/// row-major.
/// Threads: those of the BLAS.
/// Accuracy: componentwise, |error| <= c (p + r) eps |M| |x| with |M| formed from absolute blocks.
/// NaN and Inf reach outputs that depend on them.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
/// Source: Dao et al. (2022), section 3.
template <Scalar T>
void apply(const exec::cpu& e, const MonarchView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

/// The same on the device, any strides. e.workspace, aligned to 256 bytes, holds
/// apply_workspace_bytes(m, k, batch of x); butterflies need none while N numbers fit into 96 KiB. Enqueues
/// on e.stream, never allocates or synchronises; results do not depend on the batch, bit for bit.
/// Cost of a butterfly: one launch, M read once for up to 8 right-hand sides, while N numbers fit into
/// 96 KiB; beyond that a launch for every four factors, each reading and writing all vectors. Cost of a
/// Monarch matrix: two launches, the vectors between the halves written and read once.
/// Throws NotAvailable without CUDA or a device; ShapeError, DomainError (overlap, workspace too
/// small), Unsupported (a broadcast output), BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const ButterflyView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
void apply(const exec::cuda& e, const MonarchView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of device workspace for apply with k right-hand sides; batch: that of x, where it is larger
/// than that of m.
template <Scalar T>
index_t apply_workspace_bytes(const ButterflyView<T, space::cuda>& m, index_t k, index_t batch = 1);
template <Scalar T>
index_t apply_workspace_bytes(const MonarchView<T, space::cuda>& m, index_t k, index_t batch = 1);

}  // namespace structmat
