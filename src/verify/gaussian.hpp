/// \file
/// Gaussian probes and what is known of their smallest singular values.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "structmat/core/array.hpp"

namespace structmat::verify {

/// (n, s) independent standard normal numbers; complex ones have E|g|^2 = 1. The same for the same
/// state of the engine.
template <Scalar T>
Array<T, 2> gaussian(index_t n, index_t s, std::mt19937_64& engine) {
  // Box and Muller: two numbers from two, without the freedom std::normal_distribution has.
  const auto uniform = [&] { return (double(engine() >> 11) + 0.5) * 0x1p-53; };
  constexpr double two_pi = 6.283185307179586;
  Array<T, 2> g({n, s}, uninitialized);
  for (index_t i = 0; i < g.size(); i += is_complex_v<T> ? 1 : 2) {
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = two_pi * uniform();
    const double a = radius * std::cos(angle), b = radius * std::sin(angle);
    if constexpr (is_complex_v<T>) {
      const double half = std::sqrt(0.5);
      g.data()[i] = {real_t<T>(half * a), real_t<T>(half * b)};
    } else {
      g.data()[i] = T(a);
      if (i + 1 < g.size()) g.data()[i + 1] = T(b);
    }
  }
  return g;
}

/// log Gamma(x) for x = 1/2, 1, 3/2, ...; std::lgamma would write a global variable.
inline double log_gamma(double x) {
  double sum = 0;
  for (; x > 1; sum += std::log(x)) x -= 1;
  constexpr double log_sqrt_pi = 0.5723649429247001;
  return x < 0.75 ? sum + log_sqrt_pi : sum;
}

/// epsilon with P(sigma_min(G) <= epsilon) <= probability for a standard Gaussian m x s matrix, 1
/// <= m <= s.
///
/// The density of the least eigenvalue x of G G^H is at most c x^(b - 1), from the joint density
/// of all eigenvalues with x dropped in their differences; integrated, with q = s - m + 1:
///   real     P <= 2^(q/2) Gamma((s+1)/2) / (Gamma(m/2) Gamma(q+1)) epsilon^q,
///   complex  P <= Gamma(s+1) / (Gamma(m) Gamma(q+1)^2) epsilon^(2q).
/// Exact for m = 1 to leading order. Source: Edelman (1988), chapters 4 and 5; Chen, Dongarra
/// (2005).
template <Scalar T>
double least_singular_value(index_t m, index_t s, double probability) {
  const double q = double(s - m + 1), rows = double(m), columns = double(s);
  if constexpr (is_complex_v<T>) {
    const double log_c = log_gamma(columns + 1) - log_gamma(rows) - 2 * log_gamma(q + 1);
    return std::exp((std::log(probability) - log_c) / (2 * q));
  } else {
    const double log_c = q / 2 * std::log(2.0) + log_gamma((columns + 1) / 2) -
                         log_gamma(rows / 2) - log_gamma(q + 1);
    return std::exp((std::log(probability) - log_c) / q);
  }
}

}  // namespace structmat::verify
