/// \file
/// Covariance matrices of Gaussian processes on a line, in generator form.
///
/// | family                | nu  | k(t)                               | s                 | order |
/// |-----------------------|-----|------------------------------------|-------------------|-------|
/// | exponential, matern12 | 1/2 | variance exp(-s)                   | t / scale         | 1     |
/// | matern32              | 3/2 | variance (1 + s) exp(-s)           | sqrt(3) t / scale | 2     |
/// | matern52              | 5/2 | variance (1 + s + s^2 / 3) exp(-s) | sqrt(5) t / scale | 3     |
///
/// Source: Rasmussen, Williams, "Gaussian Processes for Machine Learning" (2006), section 4.2;
/// Hartikainen, Särkkä, "Kalman filtering and smoothing solutions to temporal Gaussian process
/// regression models" (2010).
#pragma once

#include <string>
#include <string_view>

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// A stationary covariance function; scale and variance are positive and finite.
struct Kernel {
  enum class Family { exponential, matern32, matern52 };
  Family family = Family::exponential;
  double scale = 1;     ///< length scale, in the unit of the times
  double variance = 1;  ///< k(0)
};

/// "matern32:scale=0.5,variance=2"; parameters that are left out are 1. "matern12" is another name
/// of "exponential". Throws DomainError, which lists what is known.
STRUCTMAT_EXPORT Kernel parse_kernel(std::string_view text);

/// k(|lag|). Accuracy: relative, 4 (1 + s) eps for s = |lag| sqrt(2 nu) / scale; 0 where that
/// underflows. Throws DomainError (scale or variance not positive and finite; lag not finite).
STRUCTMAT_EXPORT double evaluate(const Kernel& kernel, double lag);

/// M_ij = k(|t_i - t_j|) + noise [i = j].
///
/// times: (n) in, any stride, finite, strictly increasing. noise: a variance, finite, >= 0.
/// The process is the first component of a linear stochastic differential equation with state
/// covariance P and transition Phi(t) = exp(F t), so that k(t) = e_1^T Phi(t) P e_1, Phi(t + u) =
/// Phi(t) Phi(u), and
///   p_i^T = e_1^T Phi(t_i - t_{i-1}),  a_i = Phi(t_i - t_{i-1}),  q_j = P e_1,  d_i = k(0) + noise
/// give all lags; the upper part is the transpose (g = q, b = a^T, h = p). F is scaled to be free
/// of units; it has the one eigenvalue -1, hence Phi = exp(-s) (I + s N + s^2 N^2 / 2) with N = F +
/// I nilpotent. Only gaps between neighbours are exponentiated: nothing overflows, and what
/// underflows is 0 in the matrix too. Cost: n exponentials; 2 n (r^2 + 2 r) + n numbers. Accuracy:
/// componentwise, relative error of M_ij at most c (|i - j| + s) (1 + s)^2 eps for the lag s of i
/// and j, c about 8. Throws DomainError, with the index: a time that is not finite or not above the
/// one before it; noise; kernel.
STRUCTMAT_EXPORT Quasiseparable<double, transition::Dense> from_kernel(View<const double, 1> times,
                                                                       const Kernel& kernel,
                                                                       double noise = 0);

}  // namespace structmat::quasiseparable
