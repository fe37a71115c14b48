/// \file
/// Covariance functions of stationary Gaussian processes on a line whose covariance matrices are
/// quasiseparable: expressions of a few terms, with sums and products. With t = |lag|:
///
/// | term                  | k(t)                                            | where        | order |
/// |-----------------------|-------------------------------------------------|--------------|-------|
/// | exponential, matern12 | variance exp(-s)                                | s = t/scale  | 1     |
/// | matern32              | variance (1 + s) exp(-s)                        | s = sqrt(3) t / scale | 2 |
/// | matern52              | variance (1 + s + s^2 / 3) exp(-s)              | s = sqrt(5) t / scale | 3 |
/// | sho                   | variance exp(-s) (C + S)                        | s = w0 t / (2 Q) | 2 |
/// | cosine                | variance cos(2 pi t / period)                   |              | 2     |
/// | periodic              | variance sum_{j=0}^J c_j cos(2 pi j t / period) | below        | 1 + 2 J |
/// | a + b, a * b          | sum, product                                    |              | sum, product |
///
/// sho is the stochastic harmonic oscillator x'' + (w0 / Q) x' + w0^2 x = white noise, of spectral
/// density sqrt(2 / pi) S0 w0^4 / ((w^2 - w0^2)^2 + w0^2 w^2 / Q^2) with S0 = variance / (w0 Q). With
/// x = s sqrt(4 Q^2 - 1): C = cos x, S = sin(x) s / x for Q > 1/2 (cosh and sinh for Q < 1/2); Q =
/// 1/2, where C + S = 1 + s, is the common limit of both.
///
/// periodic is a truncated cosine series of the exponentiated sine squared,
///   variance exp(-2 sin^2(pi t / period) / scale^2) = variance sum_{j>=0} c_j cos(2 pi j t / period),
///   c_j = (2 - [j = 0]) exp(-z) I_j(z),  z = 1 / scale^2,
/// which is of no finite order itself. All c_j are positive and add up to 1, so the truncated series
/// is a covariance function, of k(0) = variance (1 - e), that differs by at most variance e from the
/// full one; e = periodic_truncation(scale, harmonics). Quasi-periodic functions are products:
/// exponential * cosine, of order 2, or matern32 * periodic.
///
/// Source: Rasmussen, Williams, "Gaussian Processes for Machine Learning" (2006), section 4.2;
/// Foreman-Mackey, Agol, Ambikasaran, Angus, "Fast and scalable Gaussian process modeling with
/// applications to astronomical time series" (2017), section 4; Solin, Särkkä, "Explicit link
/// between periodic covariance functions and state space models" (2014).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "structmat/core/export.hpp"
#include "structmat/core/view.hpp"

namespace structmat::quasiseparable {

/// A covariance function: a value, to be built from terms by + and *. All parameters of terms are
/// positive and finite: the factories throw DomainError for others.
class STRUCTMAT_EXPORT Kernel {
 public:
  enum class Kind { exponential, matern32, matern52, sho, cosine, periodic, sum, product };

  static Kernel exponential(double scale, double variance = 1);
  static Kernel matern32(double scale, double variance = 1);
  static Kernel matern52(double scale, double variance = 1);
  /// w0: angular frequency, undamped; quality: Q.
  static Kernel sho(double w0, double quality, double variance = 1);
  static Kernel cosine(double period, double variance = 1);
  /// 1 <= harmonics <= 4000: J; 1e-4 <= scale.
  static Kernel periodic(double period, double scale, double variance = 1, index_t harmonics = 4);

  friend STRUCTMAT_EXPORT Kernel operator+(Kernel a, Kernel b);
  friend STRUCTMAT_EXPORT Kernel operator*(Kernel a, Kernel b);

  Kind kind() const { return kind_; }
  /// Of a term, in the order of its factory; empty for sums and products.
  const std::vector<double>& term_parameters() const { return parameters_; }
  index_t harmonics() const { return harmonics_; }
  /// The two operands of a sum or product; empty for terms.
  const std::vector<Kernel>& operands() const { return operands_; }

  /// Size of the state, see the table; at most 10,000: products beyond that throw DomainError.
  index_t order() const { return order_; }

 private:
  Kernel(Kind kind, std::vector<double> parameters, index_t harmonics = 0);
  Kernel(Kind kind, Kernel a, Kernel b);
  friend Kernel with_parameters(const Kernel& kernel, View<const double, 1> values);

  Kind kind_;
  std::vector<double> parameters_;
  index_t harmonics_ = 0, order_ = 0;
  std::vector<Kernel> operands_;
};

/// All parameters of an expression, term by term from left to right, each in the order of its
/// factory (without harmonics, which is no continuous parameter).
STRUCTMAT_EXPORT std::vector<double> parameters(const Kernel& kernel);

/// Their names, like "matern32.scale".
STRUCTMAT_EXPORT std::vector<std::string> parameter_names(const Kernel& kernel);

/// The same expression with other parameters. values: as many as parameters(kernel). Throws
/// ShapeError, DomainError (not positive and finite).
STRUCTMAT_EXPORT Kernel with_parameters(const Kernel& kernel, View<const double, 1> values);

/// k(|lag|), from the formula of each term. Accuracy: relative to the sum of the absolute terms of
/// the formula, 4 (1 + s + x) eps with s and x (the phase, 2 pi J |lag| / period for periodic) as in
/// the table; 0 where exp(-s) underflows. Throws DomainError (lag not finite).
STRUCTMAT_EXPORT double evaluate(const Kernel& kernel, double lag);

/// What a series of that many harmonics leaves out of the exponentiated sine squared, relative to
/// its variance: sum_{j > harmonics} c_j. Throws DomainError (scale < 1e-4; harmonics not in 1 .. 4000).
STRUCTMAT_EXPORT double periodic_truncation(double scale, index_t harmonics);

/// An expression from text: terms NAME:PARAMETER=VALUE,... joined by + and *, which binds stronger,
/// with parentheses; blanks are free; 1000 terms at most. "matern32:scale=2,variance=0.5 + sho:w0=3,Q=10 *
/// exponential:scale=20". Parameters are those of the table (sho: w0, Q, variance; periodic also
/// harmonics); what is left out is 1 (Q: 1/2; harmonics: 4). Throws DomainError, which says what is
/// known.
STRUCTMAT_EXPORT Kernel parse_kernel(std::string_view text);

/// Text that parse_kernel turns into the same expression.
STRUCTMAT_EXPORT std::string to_string(const Kernel& kernel);

}  // namespace structmat::quasiseparable
