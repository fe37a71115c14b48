/// \file
/// Products with Cauchy and Cauchy-like matrices, pair by pair.
#pragma once

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/apply.hpp"

namespace structmat {

/// y := op(C) x.
///
/// m: parts of batch extent 1 are broadcast. x: (batch, cols of op(C), k) in, of batch extent 1
/// broadcast; y: (batch, rows of op(C), k) out. Any strides. x and y must not overlap.
/// Cost: m n k multiply-adds and, for every four columns, m n reciprocals, of which two or four share
/// a division; with order r, m n r multiply-adds more for every four columns, whatever k. Workspace:
/// n (r + 5) + 2 (m + n) numbers. `CauchyPlan` is faster for many nodes, normwise.
/// Accuracy: componentwise, |error_i| <= (n + r + 8) eps sum_j |g_i|^T|h_j| |x_j| / |s_i - t_j|. The
/// nodes are exact as given: s_i - t_j takes one rounding, also where they nearly coincide. A node
/// of any magnitude counts: where squares or products of differences would leave the range of the
/// type, reciprocals are taken one by one.
/// Coincidence of s_i and t_j: DomainError with the indices, before anything is written, or with
/// Coincidence::skip an entry zero. Non-finite data reaches the outputs that depend on it: NaN in t_j
/// or x_j all of them, in s_i or g_i one; the entries of an infinite node are zero.
/// Threads: over the rows or the batch; the result does not depend on them, bit for bit.
/// Throws ShapeError; DomainError (coincidence, overlap). Source: P. Montgomery, "Speeding the
/// Pollard and elliptic curve methods of factorization", Math. Comp. 48 (1987), section 10.3.1 (one
/// division for several reciprocals).
template <Scalar T>
void apply(const exec::cpu& e, const CauchyView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);
template <Scalar T>
void apply(const exec::cpu& e, const CauchyLikeView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

/// The same on the device, any strides. e.workspace, aligned to 256 bytes, holds
/// apply_workspace_bytes(m, k, batch of x). Enqueues on e.stream, never allocates or synchronises.
/// Cost: m n k multiply-adds and, for every four columns and every four generators, m n reciprocals
/// (real single precision: half of them). Where rows are few, columns are cut into segments, whose
/// sums the workspace holds; cuts and order depend on the shape of one matrix alone, so results do
/// not depend on the batch and repeat bit by bit.
/// Accuracy: as on the host. Nodes above 2^60 (single) or 2^500 (double), and pairs whose differences
/// have squares or products below the range of the type, are taken by slower exact divisions.
/// Coincidence: nobody compares nodes beforehand. With Coincidence::error, outputs that depend on a
/// coinciding pair are not finite; Coincidence::skip is an entry zero.
/// Throws NotAvailable without CUDA or a device; ShapeError, DomainError (overlap, workspace too
/// small), Unsupported (a broadcast output), BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
void apply(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of device workspace for apply with k right-hand sides; batch: that of x, where it is larger
/// than that of m.
template <Scalar T>
index_t apply_workspace_bytes(const CauchyView<T, space::cuda>& m, index_t k, index_t batch = 1);
template <Scalar T>
index_t apply_workspace_bytes(const CauchyLikeView<T, space::cuda>& m, index_t k,
                              index_t batch = 1);

}  // namespace structmat
