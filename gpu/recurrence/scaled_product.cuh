/// \file
/// Products of many numbers whose range no type holds.
#pragma once

#include <limits>

#include "core/complex.cuh"

namespace structmat::gpu::recurrence {

/// a 2^exponent.
template <class T>
__device__ T scaled(T a, int exponent) {
  if constexpr (is_complex<T>) {
    return {ldexp(a.re, exponent), ldexp(a.im, exponent)};
  } else {
    return ldexp(a, exponent);
  }
}

/// A product mantissa * 2^exponent of many numbers. A chunk's product may leave the range of T
/// although its product with the state does not (128 transitions of 0.4 are 0 in float); kept in
/// this form, the chunked recurrence loses nothing that the plain one keeps, and never turns 0 *
/// (overflowed product) into NaN. The exponent is 0 unless the mantissa is finite and not zero.
template <class T>
struct ScaledProduct {
  using R = real_of_t<T>;
  T mantissa = T(1);
  int exponent = 0;

  __device__ void multiply(T a) {
    constexpr R high = std::is_same_v<R, float> ? R(0x1p60) : R(0x1p500);
    constexpr R low = 1 / high;
    const T next = mantissa * a;
    const R size = taxicab(next);
    if (size >= low && size <= high) {
      mantissa = next;
    } else if (splits(a) && splits(mantissa)) {
      const int of_mantissa = magnitude(mantissa), of_a = magnitude(a);
      mantissa = scaled(mantissa, -of_mantissa) * scaled(a, -of_a);
      // Parts of a complex product may cancel.
      exponent = splits(mantissa) ? bounded(exponent + of_mantissa + of_a) : 0;
    } else {
      mantissa = next;
      exponent = 0;
    }
  }

  __device__ void multiply(const ScaledProduct& other) {
    multiply(other.mantissa);
    if (other.exponent != 0 && splits(mantissa)) exponent = bounded(exponent + other.exponent);
  }

  /// The product times s, rounded twice.
  __device__ T times(T s) const {
    if (exponent == 0) return mantissa * s;
    const int of_mantissa = magnitude(mantissa);
    return scaled(scaled(mantissa, -of_mantissa) * s, exponent + of_mantissa);
  }

 private:
  /// Finite and not zero.
  __device__ static bool splits(T a) {
    const R size = taxicab(a);
    return size > 0 && size <= std::numeric_limits<R>::max();
  }

  __device__ static int magnitude(T a) {
    int exponent = 0;
    frexp(taxicab(a), &exponent);
    return exponent;
  }

  /// Far beyond what any T can bring back, and far from overflow of int.
  __device__ static int bounded(int e) {
    constexpr int limit = 1 << 28;
    return max(-limit, min(limit, e));
  }
};

}  // namespace structmat::gpu::recurrence
