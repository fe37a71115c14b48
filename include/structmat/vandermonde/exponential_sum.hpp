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

/// The same for matrices, arrays and vectors of (r), (r, k) or (batch, r, k).
template <Structured M, detail::Operand C, class Y>
void real_exponential_sum(const exec::cpu& e, const M& m, const C& c, Y&& y) {
  using T = typename M::value_type;
  real_exponential_sum(e, m.view(), detail::input<T>(c), detail::output<real_t<T>>(y));
}

}  // namespace structmat
