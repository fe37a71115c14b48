/// \file
/// y := A x, y := A^T x and y := A^H x for Vandermonde matrices and exponential sums, directly: each
/// entry takes part. The calls without Op are in core/apply.hpp; fast approximate products are in
/// vandermonde/plan.hpp.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat {

/// y_b := op(V_b) x_b for each batch entry b: values of polynomials with coefficients x at the
/// nodes, or (transposed) sums of powers of the nodes, weighted by x.
///
/// x: (batch, n, k) in (transposed: m), y: (batch, m, k) out (transposed: n); any strides; a batch
/// extent 1 of V or x is broadcast; no overlap.
/// Cost: 2 m n k flops, four times that for complex numbers, in vectors of nodes. Workspace: O(m + n) numbers per thread; transposed, for few
/// right-hand sides, up to 16 partial sums of n numbers.
/// Threads: over batch, right-hand sides and ranges of nodes; the result does not depend on their
/// number, bit for bit.
/// Accuracy: componentwise, |error| <= 2 (m + n) eps |V| |x|. Powers are never formed apart from
/// their coefficients: an infinite power with a zero coefficient counts as zero, x_i^0 as 1. NaN
/// and Inf reach only the outputs that depend on them.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
/// Source: Horner's rule; Higham, "Accuracy and Stability of Numerical Algorithms", section 5.1.
template <Scalar T>
void apply(const exec::cpu& e, const VandermondeView<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y);

/// y_b := op(E_b) x_b for each batch entry b: y_l = sum_k x_k exp(l a_k), or (transposed)
/// y_k = sum_l exp(l a_k) x_l.
///
/// x: (batch, r, k) in (transposed: L), y: (batch, L, k) out (transposed: r); any strides; a batch
/// extent 1 of E or x is broadcast; no overlap.
/// With l = l1 B + l2, B about sqrt(L), exp(l a) = exp(l1 B a) exp(l2 a): 2 sqrt(L) r tabulated
/// numbers, and products of matrices L/B x r and r x B for each column.
/// Cost: 2 L r k flops, four times that for complex numbers. Workspace: O(sqrt(L) r) numbers and, per
/// thread, O(sqrt(L) + r).
/// Threads: over batch, right-hand sides and blocks of lags (transposed: of poles); the result does
/// not depend on their number, bit for bit.
/// Accuracy: componentwise, |error| <= (r + 16) eps |E| |x|, transposed (2 sqrt(L) + 16) eps, for every l up to
/// 2^40: arguments are reduced in twice the precision (and for float everything but the sums is
/// done in double). Decaying exponentials underflow to zero, growing ones overflow where the entry
/// itself does.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
/// Source: Gu, Goel, Gupta, Re, "On the Parameterization and Initialization of Diagonal State Space
/// Models" (2022), for the sums; the two levels are the addition theorem.
template <Scalar T>
void apply(const exec::cpu& e, const LogVandermondeView<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y);

/// Bytes of workspace for k right-hand sides on the device, for the batch of m; a product with a larger
/// batch of x takes turns in it. Without partial sums (few coefficients, or many nodes) 0.
template <Scalar T>
index_t apply_workspace_bytes(const VandermondeView<T, space::cuda>& m, index_t k);
template <Scalar T>
index_t apply_workspace_bytes(const LogVandermondeView<T, space::cuda>& m, index_t k);

/// The same on the device: values by Horner's rule, sums of powers in two levels, x^(64 l1) times x^l2.
///
/// Any strides, but y must not be broadcast. No allocation, no synchronisation. Few nodes with many
/// coefficients: these are divided, and y is the combination of partial values in the workspace.
/// Cost: 2 m n k flops, complex four times that; bytes of operands and result, x once for every 512 nodes
/// (64^2 powers). Results repeat bit by bit and do not depend on the batch.
/// Accuracy: componentwise, |error| <= 2 (m + n) eps |V| |x|. Transposed, powers with exponents up to 63 and
/// multiples of 64 are formed apart from x_i: where one is beyond the range of T, or underflows, so do its
/// products; a zero x_i still counts as zero.
/// Throws ShapeError; DomainError (overlap, workspace too small); Unsupported (y with stride 0,
/// workspace not contiguous or not aligned to 256 bytes); NotAvailable, BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const VandermondeView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// The same on the device, in two levels with rows of 64 lags (float: 128, complex and long); tables are made in
/// shared memory, and for each column of x again.
///
/// Strides, workspace (transposed with more than 16,384 lags) and exceptions as for VandermondeView.
/// Cost: 2 L r k flops, four times that for complex numbers.
/// Accuracy: componentwise, |error| <= (r + 32) eps |E| |x|, transposed (L / 64 + 96) eps. Phases l Im a are reduced by
/// 2 pi without loss: float for |a| < 2^40 and any l, double for l |a| < 2^40.
template <Scalar T>
void apply(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

}  // namespace structmat
