/// \file
/// Products with Toeplitz, Hankel, circulant and skew-circulant matrices.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/hankel.hpp"

namespace structmat {

/// y := op(A) x:  y_i = sum_j c_{i-j} x_j (Toeplitz), sum_j c_{i+j} x_j (Hankel),
/// sum_j c_{(i-j) mod n} x_j (circulant; skew: with the opposite sign for i < j).
///
/// x: (batch, n, k) in; y: (batch, m, k) out; any strides; a batch extent 1 of A or x is broadcast.
/// x and y must not overlap.
/// Small products are sums, 2 m n k flops; larger ones go through a ToeplitzPlan, whose symbol is
/// computed anew in each call: with several products by one matrix, make the plan once. The choice
/// depends on m, n and k alone. Cost: O(max(m, n) log min(m, n)) for each right-hand side and for the
/// symbol. Workspace: see ToeplitzPlan.
/// Threads: over batch, right-hand sides (and rows, for sums). The result does not depend on the
/// number of threads, bit for bit.
/// Accuracy: sums are componentwise accurate, |error| <= (n + 1) eps |A| |x|; products by Fourier
/// transforms normwise, |error| <= c log2(n) eps ||c||_2 ||x||_2 with c about 8: an entry far below the
/// largest may be lost (toeplitz::Accuracy::componentwise keeps it). What is not finite reaches the
/// rows that depend on it and no others.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
/// Source: see ToeplitzPlan.
template <Scalar T>
void apply(const exec::cpu& e, const ToeplitzView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);
template <Scalar T>
void apply(const exec::cpu& e, const HankelView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);
template <Scalar T>
void apply(const exec::cpu& e, const CirculantView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);
template <Scalar T>
void apply(const exec::cpu& e, const SkewCirculantView<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y);

/// The same on a device, by sums whatever the size: componentwise accurate, 2 m n k flops. A plan
/// (ToeplitzPlan<T, space::cuda>) has transforms. Strides: any; y not broadcast. No workspace; neither
/// allocates nor synchronises. What is not finite acts as in the sums of the definition.
/// Throws besides Unsupported (y broadcast), NotAvailable, BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
void apply(const exec::cuda& e, const HankelView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
void apply(const exec::cuda& e, const CirculantView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
void apply(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// 0: sums need no workspace.
template <Scalar T>
index_t apply_workspace_bytes(const ToeplitzView<T, space::cuda>&, index_t) {
  return 0;
}
template <Scalar T>
index_t apply_workspace_bytes(const HankelView<T, space::cuda>&, index_t) {
  return 0;
}
template <Scalar T>
index_t apply_workspace_bytes(const CirculantView<T, space::cuda>&, index_t) {
  return 0;
}
template <Scalar T>
index_t apply_workspace_bytes(const SkewCirculantView<T, space::cuda>&, index_t) {
  return 0;
}

}  // namespace structmat
