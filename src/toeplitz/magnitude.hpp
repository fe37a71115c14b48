/// \file
/// The largest modulus in a column, and numbers that are not finite.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "structmat/core/view.hpp"

namespace structmat::toeplitz {

/// Bits of |x|, which compare like the numbers; everything that is not finite compares above.
template <RealScalar R>
using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;

template <RealScalar R>
constexpr Bits<R> modulus_bits(R x) {
  return std::bit_cast<Bits<R>>(x) & (~Bits<R>{} >> 1);
}

template <RealScalar R>
constexpr bool bits_are_finite(Bits<R> bits) {
  return bits < std::bit_cast<Bits<R>>(std::numeric_limits<R>::infinity());
}

template <Scalar T>
constexpr Bits<real_t<T>> largest_bits(const T& x) {
  if constexpr (is_complex_v<T>) {
    return std::max(modulus_bits(x.real()), modulus_bits(x.imag()));
  } else {
    return modulus_bits(x);
  }
}

template <Scalar T>
constexpr bool is_finite(const T& x) {
  return bits_are_finite<real_t<T>>(largest_bits(x));
}

/// An exponent e so that numbers of at most this modulus (its bits), times 2^-e, have largest modulus
/// about 1, and both powers are numbers of R; 0 for zero.
template <RealScalar R>
int scale_exponent(Bits<R> largest) {
  if (largest == 0) return 0;
  constexpr int limit = std::numeric_limits<R>::max_exponent - 2;
  return std::clamp(std::ilogb(std::bit_cast<R>(largest)), -limit, limit);
}

/// The same for the finite elements of x.
template <Scalar T>
int scale_exponent(const View<const T, 1>& x) {
  using R = real_t<T>;
  Bits<R> largest = 0;
  for (index_t i = 0; i < x.extent(0); ++i) {
    const Bits<R> bits = largest_bits(x(i));
    largest = std::max(largest, bits_are_finite<R>(bits) ? bits : Bits<R>{});
  }
  return scale_exponent<R>(largest);
}

}  // namespace structmat::toeplitz
