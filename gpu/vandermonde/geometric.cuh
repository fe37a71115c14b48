/// \file
/// Geometric sequences in kernels: exp(l a) for exponential sums and z^l for Vandermonde matrices, with
/// an error that does not grow with l in the first case.
///
/// The phase of exp(i l y) in turns, y / (2 pi), is reduced modulo 1 before anything is rounded: for
/// float it is a 64-bit fraction, whose multiples wrap around by themselves; for double the product l y
/// is kept in two numbers.
#pragma once

#include "core/complex.cuh"

namespace structmat::gpu {

/// What element l of a sequence is.
enum class Terms {
  exponentials,  ///< exp(l a)
  powers         ///< a^l, with a^0 = 1
};

/// The unevaluated sum high + low.
struct TwoNumbers {
  double high, low;
};

__device__ inline TwoNumbers exact_product(double a, double b) {
  const double p = a * b;
  return {p, fma(a, b, -p)};
}

inline constexpr double two_pi = 6.283185307179586476925286766559;
/// 1 / (2 pi) rounded to 53 bits, and what that leaves.
inline constexpr double turns_high = 0.15915494309189535, turns_low = -9.839338337591243e-18;

/// exp(l y), y real.
__device__ inline double exponential(double l, double y) {
  const TwoNumbers p = exact_product(l, y);
  const double e = exp(p.high);
  // Where it overflows, the correction would be inf - inf.
  return isfinite(e) ? fma(e, p.low, e) : e;
}

/// exp(i l y).
__device__ inline Complex<double> unit(double l, double y) {
  const TwoNumbers p = exact_product(l, y);
  const double turns = p.high * turns_high;
  const double rest = fma(p.high, turns_high, -turns) + fma(p.high, turns_low, p.low * turns_high);
  const double fraction = turns - rint(turns), sum = fraction + rest;
  const double angle = ((fraction - sum) + rest) * two_pi;
  double s, c;
  sincospi(2 * sum, &s, &c);
  return {fma(-angle, s, c), fma(angle, c, s)};
}

/// y / (2 pi) modulo 1, in units of 2^-64.
__device__ inline unsigned long long fraction_of_turns(double y) {
  const double high = y * turns_high;
  double low = fma(y, turns_high, -high) + y * turns_low;
  low -= rint(low);
  const double scaled = (high - rint(high)) * 0x1p32, head = rint(scaled);
  const double rest = fma(low, 0x1p64, (scaled - head) * 0x1p32);
  constexpr double limit = 0x1p62;
  const double bounded = rest < -limit ? -limit : rest > limit ? limit : rest;
  return (static_cast<unsigned long long>(static_cast<long long>(head)) << 32) +
         static_cast<unsigned long long>(static_cast<long long>(rint(bounded)));
}

/// a^l by squaring, from the leading bit of l down: no intermediate power is beyond the last one.
template <class W>
__device__ W power(W a, index_t l) {
  if (l == 0) return W(1);
  W result = a;
  for (int bit = 62 - __clzll(l); bit >= 0; --bit) {
    result *= result;
    if (l >> bit & 1) result *= a;
  }
  return result;
}

/// The type that single terms are computed in.
template <class T>
using wide_t = std::conditional_t<is_complex<T>, Complex<double>, double>;

template <class T>
__device__ wide_t<T> widened(T a) {
  if constexpr (is_complex<T>)
    return {double(a.re), double(a.im)};
  else
    return double(a);
}
template <class T>
__device__ T narrowed(wide_t<T> a) {
  if constexpr (is_complex<T>)
    return {real_of_t<T>(a.re), real_of_t<T>(a.im)};
  else
    return T(a);
}

template <class T>
__device__ bool is_finite(T a) {
  if constexpr (is_complex<T>)
    return isfinite(a.re) && isfinite(a.im);
  else
    return isfinite(a);
}

/// 2^e, without loss of figures for large |e|.
__device__ inline float exp2_of(double e) {
  // Comparisons, not fmin: NaN stays.
  e = e < -254 ? -254 : e > 254 ? 254 : e;
  const double whole = rint(e);
  const int k = isnan(e) ? 0 : static_cast<int>(whole), half = k / 2;
  const auto scale = [](int exponent) { return __int_as_float((127 + exponent) << 23); };
  return exp2(static_cast<float>(e - whole)) * scale(half) * scale(k - half);
}

/// One sequence, prepared for many of its terms.
template <class T>
struct Geometric {
  wide_t<T> base;
  bool powers;

  Geometric() = default;
  __device__ Geometric(T a, Terms terms) : base(widened(a)), powers(terms == Terms::powers) {}

  __device__ T operator()(index_t l) const {
    if (l == 0) return T(1);
    if (powers) return narrowed<T>(power(base, l));
    const auto count = static_cast<double>(l);
    if constexpr (is_complex<T>)
      return exponential(count, base.re) * unit(count, base.im);
    else
      return static_cast<T>(exponential(count, base));
  }
};

/// float: exponents and phases in double and in fixed point, functions in float.
template <>
struct Geometric<Complex<float>> {
  Complex<double> base;      ///< of powers
  double rate;               ///< Re a / log 2
  unsigned long long turns;  ///< Im a / (2 pi) modulo 1, in units of 2^-64
  bool powers;

  Geometric() = default;
  __device__ Geometric(Complex<float> a, Terms terms)
      : base(widened(a)), powers(terms == Terms::powers) {
    constexpr double log2_e = 1.4426950408889634;
    // A phase that is no number makes the term none.
    rate = isfinite(a.im) ? base.re * log2_e : double(NAN);
    turns = isfinite(a.im) ? fraction_of_turns(base.im) : 0;
  }

  __device__ Complex<float> operator()(index_t l) const {
    if (l == 0) return 1;
    if (powers) return narrowed<Complex<float>>(power(base, l));
    const auto phase = static_cast<long long>(turns * static_cast<unsigned long long>(l));
    // 24 bits that float holds exactly, and the rest to first order.
    const float head = static_cast<float>(static_cast<int>(phase >> 40)) * 0x1p-23f;
    const float rest = static_cast<float>(static_cast<unsigned>(phase >> 8)) *
                       (0x1p-56f * static_cast<float>(two_pi));
    float s, c;
    sincospi(head, &s, &c);
    const float modulus = exp2_of(static_cast<double>(l) * rate);
    return {modulus * fma(-rest, s, c), modulus * fma(rest, c, s)};
  }
};

/// Tables of many terms are products of two shorter ones: term(8 q + s) = high(q) low(s).
inline constexpr int seed_width = 8;

}  // namespace structmat::gpu
