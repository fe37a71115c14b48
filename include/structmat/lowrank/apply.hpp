/// \file
/// y := M x, y := M^T x and y := M^H x for M = U V^T. The calls without Op are in core/apply.hpp.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/lowrank/low_rank.hpp"

namespace structmat {

/// y_b := op(M_b) x_b for each batch entry b.
///
/// x: (batch, n, k) in; y: (batch, m, k) out, m and n exchanged for the transpose; any strides; a
/// batch extent 1 of M or x is broadcast. x and y must not overlap.
/// Cost: 2 (m + n) r k flops in two products by BLAS, reading U and V once. Workspace: r k, and
/// copies of what is not row-major (adjoint of complex data: of x and y).
/// Threads: those of the BLAS.
/// Accuracy: componentwise, |error| <= c (n + r) eps |U| |V|^T |x|. NaN and Inf of a row of U reach
/// the output of that row only; those of V and x reach all outputs.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
template <Scalar T>
void apply(const exec::cpu& e, const LowRankView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

/// The same on the device, any strides. e.workspace, aligned to 256 bytes, holds
/// apply_workspace_bytes(m, k, batch of x). Enqueues on e.stream, never allocates or synchronises.
/// Cost: 2 (m + n) r k flops; U, V, x read once, y written once. Sums over the columns of op(M) are cut
/// into up to 512 pieces, in an order that depends on their number alone; results do not depend on
/// the batch, bit for bit.
/// Throws NotAvailable without CUDA or a device; ShapeError, DomainError (overlap, workspace too
/// small), Unsupported (a broadcast output), BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const LowRankView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of device workspace for apply with k right-hand sides; batch: that of x, where it is larger
/// than that of m.
template <Scalar T>
index_t apply_workspace_bytes(const LowRankView<T, space::cuda>& m, index_t k, index_t batch = 1);

}  // namespace structmat
