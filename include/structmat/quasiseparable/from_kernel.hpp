/// \file
/// Covariance matrices of Gaussian processes on a line, in generator form, and the gradient of their
/// parameters. Kernels are in kernel.hpp.
#pragma once

#include "structmat/quasiseparable/cotangent.hpp"
#include "structmat/quasiseparable/kernel.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// M_ij = k(|t_i - t_j|) + noise_i [i = j].
///
/// times: (n) in, any stride, finite, strictly increasing, with finite gaps. noise: variances,
/// finite, >= 0, one for all times or (n) in, any stride.
/// The process is one output h of a linear stochastic differential equation with state covariance P
/// and transition Phi(t) = exp(F t), so that k(t) = h^T Phi(t) P h, Phi(t + u) = Phi(t) Phi(u), and
///   p_i^T = h^T Phi(t_i - t_{i-1}),  a_i = Phi(t_i - t_{i-1}),  q_j = P h,  d_i = k(0) + noise_i
/// give all lags; the upper part is the transpose (g = q, b = a^T, h = p). F is scaled to be free
/// of units; Phi is in closed form for every term. Sums stack states, products take Kronecker
/// products. Only gaps between neighbours are exponentiated: nothing overflows, and what underflows
/// is 0 in the matrix too.
/// Cost: O(n (r^2 + terms)); 2 n (r^2 + 2 r) + n numbers for r = kernel.order(). Accuracy: Matern
/// terms alone componentwise, relative error of M_ij at most c (|i - j| + s) (1 + s)^2 eps for the
/// lag s of i and j, c about 8; with terms that change sign the same relative to k(0), with the
/// phase beside s.
/// Throws DomainError, with the index: a time that is not finite or not above the one before it, a
/// gap that is not finite, noise; ShapeError (noise).
/// Source: Hartikainen, Särkkä, "Kalman filtering and smoothing solutions to temporal Gaussian
/// process regression models" (2010).
STRUCTMAT_EXPORT Quasiseparable<double, transition::Dense> from_kernel(View<const double, 1> times,
                                                                       const Kernel& kernel,
                                                                       double noise = 0);
STRUCTMAT_EXPORT Quasiseparable<double, transition::Dense> from_kernel(View<const double, 1> times,
                                                                       const Kernel& kernel,
                                                                       View<const double, 1> noise);

/// parameters_bar += J^T m_bar, noise_bar likewise, for J the derivative of from_kernel.
///
/// m_bar: cotangents of the generators of batch 1, in; empty ones count as zero, so that those of the
/// lower part (p, a, q, d) alone may be given. parameters_bar: as many as parameters(kernel), out,
/// added to; the gradient is with respect to the parameters themselves (times the parameter: with
/// respect to its logarithm). noise_bar: out, added to; empty (not wanted), 1 (one noise for all
/// times) or n. Views of m_bar are only read; none may overlap the outputs.
/// Cost: O(n r^2), with products of kernels O(n r^2) a level of the expression. Accuracy: backward
/// stable, a few (1 + s + x) eps relative to the sum of absolute contributions, s and x (phase)
/// those of a gap. Throws ShapeError, DomainError (times as in from_kernel).
STRUCTMAT_EXPORT void from_kernel_vjp(
    View<const double, 1> times, const Kernel& kernel,
    const QuasiseparableCotangent<double, transition::Dense>& m_bar, View<double, 1> parameters_bar,
    View<double, 1> noise_bar = {});

}  // namespace structmat::quasiseparable
