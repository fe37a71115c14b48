/// \file
/// Real sums of complex exponentials, the kernels of diagonal state-space models.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat {

/// y_l := 2 Re sum_k c_k exp(l a_k) for 0 <= l < L: one of each pair of conjugate exponentials is
/// stored.
///
/// m: L x r with batch; c: (batch, r, k) in; y: (batch, L, k) out, real; any strides; a batch extent
/// 1 of m or c is broadcast; no overlap.
/// Cost: 4 L r k flops, half of the complex product. All else as apply for LogVandermondeView. The
/// gradient is that of the complex product for the cotangent 2 y_bar: apply_vjp.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
/// Source: Gu, Goel, Gupta, Re, "On the Parameterization and Initialization of Diagonal State Space
/// Models" (2022).
template <ComplexScalar T>
void real_exponential_sum(const exec::cpu& e, const LogVandermondeView<T>& m, View<const T, 3> c,
                          View<real_t<T>, 3> y);

/// a_bar_k += sum_l l conj(c_k exp(l a_k)) 2 y_bar_l and c_bar_k += sum_l conj(exp(l a_k)) 2 y_bar_l: reverse mode
/// of real_exponential_sum for a loss with dL = <y_bar, dy>.
///
/// c, y_bar: the shapes of c and y, in; a_bar: (batch or 1, r), c_bar: (batch or 1, r, k), in/out, or
/// absent (data() null), as in apply_vjp, whose exceptions these are.
/// Cost: two products.
template <ComplexScalar T>
void real_exponential_sum_vjp(const exec::cpu& e, const LogVandermondeView<T>& m,
                              View<const T, 3> c, View<const real_t<T>, 3> y_bar, View<T, 2> a_bar,
                              View<T, 3> c_bar);

/// The same on the device. Strides, accuracy and exceptions: as apply for LogVandermondeView; no workspace.
/// complex<float>, 4096 lags and more: products on tensor cores, each factor in two parts of half precision.
/// Errors are then below 2^-20 of the sum of absolute terms, and 2^-38 of the largest term of any pole at the
/// beginning of the 128 lags (from a multiple of 128 on) that a sum belongs to; terms below 2^-96 lose figures.
template <ComplexScalar T>
void real_exponential_sum(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& m,
                          View<const T, 3, space::cuda> c, View<real_t<T>, 3, space::cuda> y);

/// Bytes of workspace for a batch of results with k columns.
template <ComplexScalar T>
index_t real_exponential_sum_vjp_workspace_bytes(const LogVandermondeView<T, space::cuda>& m,
                                                 index_t batch, index_t k);
template <ComplexScalar T>
void real_exponential_sum_vjp(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& m,
                              View<const T, 3, space::cuda> c,
                              View<const real_t<T>, 3, space::cuda> y_bar,
                              View<T, 2, space::cuda> a_bar, View<T, 3, space::cuda> c_bar);

/// The same for matrices, arrays and vectors of (r), (r, k) or (batch, r, k).
template <class Exec, Structured M, detail::Operand C, class Y>
void real_exponential_sum(const Exec& e, const M& m, const C& c, Y&& y) {
  using T = typename M::value_type;
  real_exponential_sum(e, m.view(), detail::input<T>(c), detail::output<real_t<T>>(y));
}

}  // namespace structmat
