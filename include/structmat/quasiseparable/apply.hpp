/// \file
/// y := M x, y := M^T x and y := M^H x for quasiseparable M. The calls without Op are in
/// core/apply.hpp.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/quasiseparable/block_on_device.hpp"
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

/// The same on the device, uniform transitions.
///
/// Any strides of generators, x and y; fastest where the numbers of a row are neighbours. Enqueues on
/// e.stream, never allocates or synchronises. e.workspace holds apply_workspace_bytes(m, k); if x has
/// a larger batch than m, its entries take turns in it.
/// Long sequences are cut into chunks, which are summarised first: every number but p, g and d is read
/// twice. Scalar, Diagonal: arithmetic in T. Dense: in double, on tensor cores up to order 16; the
/// product of the transitions over a chunk costs r times the work of one right-hand side.
/// Accuracy as on the CPU. The state behind a chunk of rows is first summed without the one in front
/// of it: where that sum overflows although the full one would not, rows behind the chunk see an
/// infinity. Dense: so do they where the product of four neighbouring transitions overflows.
/// The same call gives the same bits, and an entry of the batch the bits that it has alone.
/// Throws NotAvailable without CUDA or a device, Unsupported for a y with stride 0, ShapeError,
/// DomainError (overlap, workspace too small), BackendError.
template <Scalar T, transition::Uniform K>
void apply(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of device workspace for apply with k right-hand sides.
template <Scalar T, transition::Uniform K>
index_t apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& m, index_t k);

/// Block transitions: chunks of block rows, in T. Two states of eight right-hand sides must fit into
/// shared memory (orders up to 1280 for double): Unsupported otherwise.
template <Scalar T>
void apply(const exec::cuda& e, const Quasiseparable<T, transition::Block, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
index_t apply_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>& m,
                              index_t k);

}  // namespace structmat
