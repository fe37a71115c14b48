/// \file
/// y := M x, y := M^T x and y := M^H x for quasiseparable M. The calls without Op are in
/// core/apply.hpp.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat {

/// y_b := op(M_b) x_b for each batch entry b.
///
/// x: (batch, n, k) in; y: (batch, n, k) out; any strides; a batch extent 1 of M or x is broadcast.
/// x and y must not overlap.
/// Cost: both triangles together, per right-hand side 12 n r flops for Scalar and Diagonal,
/// 4 n (r^2 + 2 r) for Dense, about 14 n r for Block; generators are read once per tile of right-hand
/// sides. Workspace: O(r k) per thread, plus O(chunk k) where x, y or the generators are strided.
/// Threads: over batch and right-hand sides; one column on two threads runs both triangles at the
/// same time. The result does not depend on the number of threads, bit for bit (Block: as far as
/// BLAS keeps to that).
/// e.chunks > 1: two phases (exec.hpp), for columns that fit into one 64-byte vector and uniform
/// transitions; a range costs the product of its transitions more (Dense: r times the work).
/// Accuracy: componentwise, |error| <= 4 (n + r) eps |M| |x| with |M| formed from absolute
/// generators. NaN and Inf reach only the outputs that depend on them.
/// Throws ShapeError, and DomainError for overlapping operands and e.chunks < 1; before anything is written.
/// Source: Eidelman, Gohberg (1999), section 2.
template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const QuasiseparableView<T, K>& m, Op op, View<const T, 3> x,
           View<T, 3> y);
template <Scalar T>
void apply(const exec::cpu& e, const Quasiseparable<T, transition::Block>& m, Op op,
           View<const T, 3> x, View<T, 3> y);

/// The same on the device: Scalar and Diagonal transitions, float and double.
///
/// States of the generators lie next to each other (stride 1); all other strides are free.
/// Enqueues on e.stream, never allocates or synchronises. e.workspace, aligned to 8 bytes, holds
/// apply_workspace_bytes(m, k); if x has a larger batch than m, its entries take turns in it.
/// The state behind a chunk of rows is first summed without the one in front of it: where that sum
/// overflows although the full one would not, rows behind the chunk see an infinity.
/// Throws NotAvailable without CUDA or a device, Unsupported for other strides, ShapeError,
/// DomainError (overlap, workspace too small), BackendError.
template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) void apply(
    const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m, Op op,
    View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of device workspace for apply with k right-hand sides.
template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) index_t
    apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& m, index_t k);

}  // namespace structmat
