/// \file
/// exp(l a) for integers l: the product l a is kept in two doubles, and its imaginary part is reduced
/// by 2 pi in two doubles, so that the error does not grow with l.
#pragma once

#include <cmath>

#include "vandermonde/power.hpp"

namespace structmat::vandermonde {

/// 2 pi rounded to 53 bits, and what that leaves.
inline constexpr TwoDoubles two_pi{6.283185307179586, 2.4492935982947064e-16};

/// The high part carries the sum, for |x| < 2^40 with an error below 2^-64.
inline TwoDoubles reduced_phase(const TwoDoubles& x) {
  const double turns = std::nearbyint(x.high / two_pi.high);
  const TwoDoubles part = two_product(turns, two_pi.high);
  // Both are close, so that the difference is exact.
  return quick_sum(x.high - part.high, (x.low - part.low) - turns * two_pi.low);
}

inline double exponential(const TwoDoubles& x) {
  const double e = std::exp(x.high);
  return std::isfinite(e) ? e + e * x.low : e;
}

/// e^{i x}
inline std::complex<double> unit(const TwoDoubles& x) {
  const TwoDoubles r = reduced_phase(x);
  const double c = std::cos(r.high), s = std::sin(r.high);
  return {c - r.low * s, s + r.low * c};
}

/// exp(l a)
inline double exponential(double a, index_t l) {
  return l == 0 ? 1 : exponential(two_product(static_cast<double>(l), a));
}
inline std::complex<double> exponential(const std::complex<double>& a, index_t l) {
  if (l == 0) return 1;
  const auto count = static_cast<double>(l);
  const double modulus = exponential(two_product(count, a.real()));
  if (a.imag() == 0) return modulus;
  const std::complex<double> direction = unit(two_product(count, a.imag()));
  return {modulus * direction.real(), modulus * direction.imag()};
}

}  // namespace structmat::vandermonde
