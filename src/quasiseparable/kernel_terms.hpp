/// \file
/// What the formulas of kernels, their text and their state spaces have in common.
#pragma once

#include <array>
#include <span>

#include "structmat/quasiseparable/kernel.hpp"

namespace structmat::quasiseparable {

/// A kind of term, its name and those of its parameters. `matern12` is listed as a second name.
struct Term {
  Kernel::Kind kind;
  std::string_view name;
  std::vector<std::string_view> parameters;
};
std::span<const Term> known_terms();
const Term& term_of(Kernel::Kind kind);

/// sqrt(2 nu): s = rate |lag| / scale.
double matern_rate(Kernel::Kind kind);

/// s of a Matern kernel. exp(-1000) is 0, and a larger s could overflow when squared.
double matern_argument(const Kernel& kernel, double lag);

/// 2 pi j lag / period, without whole turns.
double phase(double lag, double period, index_t harmonic = 1);

/// exp(-z) I_j(z) for z = 1 / scale^2 and j = 0 .. count - 1; with I_{-j} = I_j they add up to 1.
/// Relative accuracy, by the recurrence of ratios from the far end (Miller).
std::vector<double> scaled_bessel(double scale, index_t count);

/// C = exp(-b x) cosh(x sqrt(m)) and S = exp(-b x) sinh(x sqrt(m)) / sqrt(m) for m = b^2 - 1, of
/// either sign, x = w0 t and b = 1 / (2 Q): the oscillator's transition is C I + S [[b, 1], [-1,
/// -b]].
struct Oscillator {
  double damping;   ///< b
  double x;         ///< 0 where everything underflows
  double even = 0;  ///< C
  double odd = 0;   ///< S
  Oscillator(double w0, double quality, double lag);
  /// dS/dm at constant exp(-b x); dC/dm is x S / 2.
  double odd_derivative() const;
};

std::string number(double x);

}  // namespace structmat::quasiseparable
