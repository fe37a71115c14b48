/// \file
/// Reverse mode of solutions and determinants of Cauchy and Cauchy-like matrices.
#pragma once

#include "structmat/cauchy/apply_vjp.hpp"
#include "structmat/cauchy/lu.hpp"

namespace structmat {

/// For x = op(C)^-1 b and a loss L with dL = Re <x_bar, dx>:
///   w = op(C)^-H x_bar,  b_bar += w,  m_bar += the cotangents of nodes and generators of y = op(C) x
///   for y_bar = -w (apply_vjp.hpp).
///
/// m: n x n, and f its factors; x: (batch, n, k) in, the solution; x_bar: the same shape, in; m_bar: as
/// in apply_vjp, in/out; b_bar: (batch or 1, n, k) in/out, or absent (data() null); a batch extent 1
/// collects sums. Strides are free. b_bar overlaps neither x nor x_bar; the views of m_bar overlap no
/// input and not each other. Cost: one solution and one apply_vjp. Accuracy: that of both. Throws
/// ShapeError; DomainError (f broke down, overlap, coincidence).
template <Scalar T>
void solve_vjp(const exec::cpu& e, const CauchyView<T>& m, const cauchy::Lu<T>& f, Op op,
               View<const T, 3> x, View<const T, 3> x_bar, const CauchyCotangent<T>& m_bar,
               View<T, 3> b_bar);
template <Scalar T>
void solve_vjp(const exec::cpu& e, const CauchyLikeView<T>& m, const cauchy::Lu<T>& f, Op op,
               View<const T, 3> x, View<const T, 3> x_bar, const CauchyLikeCotangent<T>& m_bar,
               View<T, 3> b_bar);

/// For the sum over the batch of log |det C_b|, weighted by bar(b): m_bar += bar C^-H pulled back to
/// nodes and generators; for a Cauchy matrix
///   s_i: sum_{k != i} 1 / (s_i - s_k) - sum_k 1 / (s_i - t_k)  (conjugated), t_j likewise.
///
/// m: n x n; bar: batch numbers, in; m_bar: in/out, parts may be absent. Cost: Cauchy 2 n^2 reciprocals;
/// Cauchy-like cauchy::inverse and O(n^2 r). Accuracy: Cauchy componentwise, n eps times the sum of
/// moduli. Throws ShapeError; DomainError (coincidence; repeated nodes or singular; not finite).
template <Scalar T>
void log_determinant_vjp(const exec::cpu& e, const CauchyView<T>& m, View<const real_t<T>, 1> bar,
                         const CauchyCotangent<T>& m_bar);
template <Scalar T>
void log_determinant_vjp(const exec::cpu& e, const CauchyLikeView<T>& m,
                         View<const real_t<T>, 1> bar, const CauchyLikeCotangent<T>& m_bar);

}  // namespace structmat
