/// \file
/// y := M x, y := M^T x and y := M^H x for semiseparable M. The calls without Op are in
/// core/apply.hpp.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/semiseparable/block_on_device.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat {

/// y_b := op(M_b) x_b for each batch entry b.
///
/// x: (batch, n, k) in; y: (batch, n, k) out; any strides; a batch extent 1 of M or x is broadcast.
/// x and y must not overlap.
/// Cost: per right-hand side 6 n r flops for Scalar and Diagonal, 2 n (r^2 + 2 r) for Dense, about
/// 8 n r for Block. Workspace: O(r k) per thread, plus O(chunk k) where x, y or the generators are
/// strided.
/// Threads: over batch and right-hand sides. The result does not depend on their number, bit for bit
/// (Block: as far as BLAS keeps to that).
/// e.chunks > 1: two phases (exec.hpp), for columns that fit into one 64-byte vector and uniform
/// transitions; a range costs the product of its transitions more (Dense: r times the work).
/// Accuracy: componentwise, |error| <= 4 (n + r) eps |M| |x| with |M| formed from absolute
/// generators. NaN and Inf reach only the outputs that depend on them.
/// Throws ShapeError, and DomainError for overlapping operands and e.chunks < 1; before anything is written.
/// Source: Dao, Gu, "Transformers are SSMs" (2024), section 3 (the recurrent form).
template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const SemiseparableView<T, K>& m, Op op, View<const T, 3> x,
           View<T, 3> y);
template <Scalar T>
void apply(const exec::cpu& e, const Semiseparable<T, transition::Block>& m, Op op,
           View<const T, 3> x, View<T, 3> y);

/// The same on the device, uniform transitions: what quasiseparable/apply.hpp says of strides,
/// workspace, accuracy and exceptions holds here.
template <Scalar T, transition::Uniform K>
void apply(const exec::cuda& e, const SemiseparableView<T, K, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of device workspace for apply with k right-hand sides.
template <Scalar T, transition::Uniform K>
index_t apply_workspace_bytes(const SemiseparableView<T, K, space::cuda>& m, index_t k);

/// Block transitions: as there.
template <Scalar T>
void apply(const exec::cuda& e, const Semiseparable<T, transition::Block, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
index_t apply_workspace_bytes(const Semiseparable<T, transition::Block, space::cuda>& m, index_t k);

}  // namespace structmat
