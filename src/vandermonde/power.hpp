/// \file
/// Powers in twice the precision: an error of j eps would drown x^j for large j.
#pragma once

#include <cmath>

#include "structmat/core/scalar.hpp"

namespace structmat::vandermonde {

/// The unevaluated sum high + low, |low| at most half a unit in the last place of high.
struct TwoDoubles {
  double high = 0, low = 0;

  double rounded() const { return high; }
};

/// a + b, renormalised, for |a| >= |b| or a of no less weight.
inline TwoDoubles quick_sum(double a, double b) {
  const double s = a + b;
  // Beyond the range the low part would be inf - inf.
  if (!std::isfinite(s)) return {s, 0};
  return {s, b - (s - a)};
}

inline TwoDoubles two_sum(double a, double b) {
  const double s = a + b, part = s - a;
  if (!std::isfinite(s)) return {s, 0};
  return {s, (a - (s - part)) + (b - part)};
}

inline TwoDoubles two_product(double a, double b) {
  const double p = a * b;
  if (!std::isfinite(p)) return {p, 0};
  return {p, std::fma(a, b, -p)};
}

inline TwoDoubles operator+(const TwoDoubles& a, const TwoDoubles& b) {
  const TwoDoubles s = two_sum(a.high, b.high);
  return quick_sum(s.high, s.low + (a.low + b.low));
}
inline TwoDoubles operator-(const TwoDoubles& a) {
  return {-a.high, -a.low};
}
inline TwoDoubles operator*(const TwoDoubles& a, const TwoDoubles& b) {
  const TwoDoubles p = two_product(a.high, b.high);
  return quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

/// The same for complex numbers.
struct TwoComplex {
  TwoDoubles re, im;

  std::complex<double> rounded() const { return {re.high, im.high}; }
};
inline TwoComplex operator*(const TwoComplex& a, const TwoComplex& b) {
  return {a.re * b.re + -(a.im * b.im), a.re * b.im + a.im * b.re};
}

template <Scalar T>
auto extended(const T& x) {
  if constexpr (is_complex_v<T>) {
    return TwoComplex{{x.real(), 0}, {x.imag(), 0}};
  } else {
    return TwoDoubles{x, 0};
  }
}

/// x^j, j >= 0, from the leading bit of j down: no intermediate power is beyond the last one.
template <Scalar T>
auto power(const T& x, index_t j) {
  const auto base = extended(x);
  auto result = extended(T{1});
  if (j == 0) return result;
  result = base;
  for (int bit = 62 - __builtin_clzll(static_cast<unsigned long long>(j)); bit >= 0; --bit) {
    result = result * result;
    if ((j >> bit) & 1) result = result * base;
  }
  return result;
}

}  // namespace structmat::vandermonde
