/// \file
/// Numbers with a separate exponent: products of generators leave the range of the scalar type long
/// before the matrix does.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "structmat/core/scalar.hpp"

namespace structmat::verify {

/// Exponent of zero: below all others, and sums of a few stay in range.
inline constexpr index_t no_exponent = INT64_MIN / 8;

/// e with 2^e <= max(|re v|, |im v|) < 2^(e+1).
template <Scalar T>
index_t exponent_of(const T& v) {
  const real_t<T> size = std::max(std::abs(std::real(v)), std::abs(std::imag(v)));
  return size > 0 ? std::ilogb(size) : no_exponent;
}

/// v 2^e
template <Scalar T>
T times_power(const T& v, index_t e) {
  using R = real_t<T>;
  // The usual case, without a call: 2^e itself is a normal number.
  if (e >= std::numeric_limits<R>::min_exponent - 1 && e < std::numeric_limits<R>::max_exponent) {
    using Bits = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;
    constexpr int mantissa = std::numeric_limits<R>::digits - 1;
    constexpr index_t bias = std::numeric_limits<R>::max_exponent - 1;
    return v * std::bit_cast<R>(static_cast<Bits>(e + bias) << mantissa);
  }
  constexpr index_t beyond = 1 << 14;
  const int power = static_cast<int>(std::clamp(e, -beyond, beyond));
  if constexpr (is_complex_v<T>) {
    return {std::ldexp(v.real(), power), std::ldexp(v.imag(), power)};
  } else {
    return std::ldexp(v, power);
  }
}

/// sum 2^(2 exponent): a sum of squares.
class SumOfSquares {
 public:
  /// Adds (v 2^e)^2; v of a size whose square is a normal number, or zero.
  void add(double v, index_t e) {
    if (v == 0) return;
    if (e > exponent_) {
      sum_ = times_power(sum_, 2 * std::max(exponent_ - e, index_t{-4096}));
      exponent_ = e;
    }
    sum_ += times_power(v * v, 2 * std::max(e - exponent_, index_t{-4096}));
  }
  void add(const SumOfSquares& other) { add(std::sqrt(other.sum_), other.exponent_); }
  /// |v|^2, whatever the size of v.
  template <Scalar T>
  void add(const T& v) {
    for (const double part : {double(std::real(v)), double(std::imag(v))}) {
      if (part != 0) add(times_power(part, -exponent_of(part)), exponent_of(part));
    }
  }

  /// The root is root() 2^exponent().
  double root() const { return std::sqrt(sum_); }
  index_t exponent() const { return exponent_; }

 private:
  double sum_ = 0;
  index_t exponent_ = no_exponent;
};

}  // namespace structmat::verify
