/// \file
/// Orders and translation constants of the complex multipole expansions.
///
/// With discs |t - a| <= r of sources and |s - b| <= q of targets, z = b - a,
///   multipole  M_k = sum_j x_j ((t_j - a) / r)^k,
///   local      y(s) = sum_l L_l ((s - b) / q)^l,
///   L_l = 1/z (-q/z)^l sum_k C(l + k, k) (r/z)^k M_k.
/// The binomials are one real matrix for all pairs of discs, 2^-(l+k) of it with the powers of
/// 2 r/z and -2 q/z; everything that depends on the pair is diagonal.
///
/// Truncation to k < p and l < o leaves of each 1 / (s - t) at most the parts (r / (|z| - q))^p and
/// (q / (|z| - r))^o, and a multiple of the smaller one; the orders are chosen for the sum. The
/// error of each term is thus bounded relative to the term itself.
#pragma once

#include <array>
#include <cmath>

#include "structmat/core/array.hpp"

namespace structmat::cauchy::multipole {

/// Vectors of eight terms.
inline constexpr int lanes = 8;
inline constexpr int most_terms = 64;

/// The least modulus of differences whose squares are handled without scaling, and the largest.
inline constexpr double least_square_safe = 0x1p-490, most_square_safe = 0x1p+490;

/// |(x, y)| without overflow or underflow on the way.
inline double modulus(double x, double y) {
  const double larger = std::max(std::abs(x), std::abs(y));
  if (larger > least_square_safe && larger < most_square_safe) return std::sqrt(x * x + y * y);
  return std::hypot(x, y);
}

class Scheme {
 public:
  explicit Scheme(double tolerance);

  /// Terms that an expansion stores: a multiple of `lanes`.
  int terms() const { return terms_; }

  /// Do `terms()` terms of both expansions suffice for discs of these radii at this distance?
  bool separated(double r, double q, double distance) const {
    return r <= ratio_ * (distance - q) && q <= ratio_ * (distance - r);
  }

  /// The terms that an expansion in powers of `ratio` needs; ratio <= the largest one.
  int order(double ratio) const {
    return orders_[static_cast<std::size_t>(std::ceil(ratio * steps_a_unit_))];
  }

  /// 2^-(l+k) C(l + k, k) at [k * terms() + l].
  const double* binomials() const { return binomials_.data(); }
  /// l! / 20^l, which stays between 1e-9 and 1e6; the powers cancel in a binomial.
  const double* factorials() const { return factorials_.data(); }
  const double* inverse_factorials() const { return inverse_factorials_.data(); }

 private:
  static constexpr int steps = 256;

  int terms_;
  double ratio_, steps_a_unit_;
  std::array<int, steps + 2> orders_{};
  std::array<double, most_terms> factorials_{}, inverse_factorials_{};
  Array<double, 1> binomials_;
};

}  // namespace structmat::cauchy::multipole
