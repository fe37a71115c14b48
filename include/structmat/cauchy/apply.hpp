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

}  // namespace structmat
