/// \file
/// Reverse mode of y = op(A) x: cotangents of the numbers of a Toeplitz, Hankel, circulant or
/// skew-circulant matrix and of x.
#pragma once

#include "structmat/toeplitz/plan.hpp"

namespace structmat {

/// For y = op(A) x and a loss L with dL = Re <y_bar, dy>:
///   x_bar += op(A)^H y_bar,   c_bar_l += sum_{i-j=l} y_bar_i conj(x_j)   (Toeplitz, op = none),
/// for the other families and operations the same sums over the places where a number stands.
///
/// m: as in apply; x: (batch, n, k), y_bar: (batch, m, k) in, x of batch extent 1 is broadcast; m_bar:
/// of the shape of the lags, the anti-diagonals or the column, in/out, or absent (data() null); x_bar:
/// (batch, n, k) in/out, or absent. A batch extent 1 of m_bar or x_bar collects the sum over the
/// batch. Strides are free. m_bar and x_bar overlap no input and not each other.
/// Cost: of apply for x_bar, and a correlation: sums of m n k products where they are few, otherwise
/// 2 k + 1 transforms of length max(m, n). Workspace: that of apply, one array of the shape of x
/// (of y for Op::transpose), m + n numbers and six (complex: 12) max(m, n) more.
/// Threads: over the batch, where no sum is taken over it. The result does not depend on their number,
/// bit for bit. Accuracy: as apply; m_bar normwise, |error| <= c log2(n) eps sum_k ||x_k||_2 ||y_bar_k||_2.
/// Throws ShapeError, and DomainError where x_bar or m_bar overlaps x or y_bar; before anything is written.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const ToeplitzView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar);
template <Scalar T>
void apply_vjp(const exec::cpu& e, const HankelView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar);
template <Scalar T>
void apply_vjp(const exec::cpu& e, const CirculantView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar);
template <Scalar T>
void apply_vjp(const exec::cpu& e, const SkewCirculantView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar);

/// The same for a prepared matrix; m_bar has the shape of its lags (Hankel: anti-diagonals, which are
/// numbered alike).
template <Scalar T>
void apply_vjp(const exec::cpu& e, const ToeplitzPlan<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar);

/// The same on a device, by sums (with a plan: as it was chosen there). m_bar and x_bar are not
/// broadcast with stride 0; extent 1 collects. Workspace: apply_vjp_workspace_bytes; none for sums. Neither
/// allocates nor synchronises; results repeat bitwise, and those of a batch entry do not depend on the
/// others. Cost of m_bar by transforms: 2 k + 1 of them, and up to a quarter of k spectra of
/// workspace; x_bar of extent 1 takes a product for each batch entry, one after the other.
/// Throws besides Unsupported (outputs with stride 0), DomainError (workspace), BackendError.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar);
template <Scalar T>
void apply_vjp(const exec::cuda& e, const HankelView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar);
template <Scalar T>
void apply_vjp(const exec::cuda& e, const CirculantView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar);
template <Scalar T>
void apply_vjp(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar);
template <Scalar T>
void apply_vjp(const exec::cuda& e, const ToeplitzPlan<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar);

/// Bytes of workspace of apply_vjp with k right-hand sides and this batch of x. Throws ShapeError.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const ToeplitzPlan<T, space::cuda>& plan, index_t k,
                                  index_t batch = 1);

}  // namespace structmat
