/// \file
/// Nodes and operators for the tests of Vandermonde matrices.
#pragma once

#include <numbers>

#include "structmat/vandermonde/apply.hpp"
#include "support/battery.hpp"

namespace structmat::test {

/// Nodes of modulus between 0.8 and 1.2, so that powers of some hundreds stay in the range of float.
template <Scalar T>
Vandermonde<T> random_vandermonde(index_t m, index_t n, index_t batch, unsigned seed) {
  Random random(seed);
  Vandermonde<T> v(m, n, batch);
  for (T& x : v.x) {
    if constexpr (is_complex_v<T>) {
      x = T(std::polar(1 + 0.2 * random.real(), std::numbers::pi * random.real()));
    } else {
      x = T((1 + 0.2 * random.real()) * (random.real() < 0 ? -1 : 1));
    }
  }
  return v;
}

/// Decaying and, a little, growing exponentials of any frequency; 400 lags stay in the range of float.
template <Scalar T>
LogVandermonde<T> random_exponentials(index_t lags, index_t poles, index_t batch, unsigned seed) {
  Random random(seed);
  LogVandermonde<T> e(lags, poles, batch);
  for (T& a : e.a) {
    const double decay = 0.1 * (random.real() - 0.9);
    if constexpr (is_complex_v<T>) {
      a = T(std::complex<double>(decay, 3 * random.real()));
    } else {
      a = T(decay);
    }
  }
  return e;
}

/// l x modulo 2 pi, for the oracle: in long double the product l x alone would lose the digits that
/// are tested.
inline long double reduced_product(index_t l, double x) {
  const __float128 full =
      static_cast<__float128>(6.283185307179586) + 2.4492935982947064e-16 + -5.989539619436679e-33;
  const __float128 phase = static_cast<__float128>(l) * x;
  return static_cast<long double>(
      phase - static_cast<__float128>(std::nearbyint(static_cast<double>(phase / full))) * full);
}

/// exp(l a)
inline std::complex<long double> exact_exponential(index_t l, const std::complex<double>& a) {
  const long double modulus = std::exp(static_cast<long double>(l) * a.real());
  const long double phase = reduced_product(l, a.imag());
  return {modulus * std::cos(phase), modulus * std::sin(phase)};
}

}  // namespace structmat::test

// The battery finds these by their arguments.
namespace structmat {

/// The matrix of absolute entries is of the same kind.
template <Scalar T>
Vandermonde<T> absolute(Vandermonde<T> v) {
  for (T& x : v.x) x = std::abs(x);
  return v;
}
template <Scalar T>
LogVandermonde<T> absolute(LogVandermonde<T> e) {
  for (T& a : e.a) a = std::real(a);
  return e;
}

}  // namespace structmat
