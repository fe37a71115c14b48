/// \file
/// Terms exp(l a) of float for tables: exponents and phases of the start of a table exactly, as
/// Geometric has them, steps within it in few operations.
#pragma once

#include "vandermonde/geometric.cuh"

namespace structmat::gpu {

/// exp(2 pi i phase / 2^64)
__device__ inline Complex<float> unit_at(unsigned long long phase) {
  // A quarter turn and x pi / 4, |x| <= 1.
  const unsigned long long shifted = phase + (1ull << 61);
  const auto quarter = static_cast<unsigned>(shifted >> 62);
  const auto rest = static_cast<int>(static_cast<unsigned>(shifted >> 30) ^ 0x80000000u);
  const float x = static_cast<float>(rest) * 0x1p-31f, square = x * x;
  float c = 3.54195276e-06f;
  c = fma(c, square, -0.000325961388f);
  c = fma(c, square, 0.0158543382f);
  c = fma(c, square, -0.308425128f);
  c = fma(c, square, 1.f);
  float s = -3.61091152e-05f;
  s = fma(s, square, 0.00249021966f);
  s = fma(s, square, -0.0807455033f);
  // pi / 4 in two numbers.
  s = fma(s, square, -2.1855695e-08f);
  s = fma(x, 0.785398185f, x * s);
  const auto with_sign = [](float a, unsigned sign) {
    return __int_as_float(__float_as_int(a) ^ static_cast<int>(sign << 31));
  };
  const bool odd = quarter % 2 == 1;
  return {with_sign(odd ? s : c, (quarter + 1) / 2 % 2), with_sign(odd ? c : s, quarter / 2)};
}

class Exponential {
 public:
  /// Where a table begins: exp(l0 a).
  struct Start {
    unsigned long long phase = 0;  ///< in units of 2^-64 turns
    float whole = 0, rest = 0;     ///< the exponent of 2
  };

  Exponential() = default;
  __device__ explicit Exponential(Complex<float> a) : Exponential(double(a.re), double(a.im)) {}
  /// a = rate + i angle.
  __device__ Exponential(double rate, double angle) {
    constexpr double log2_e = 1.4426950408889634;
    // Beyond the range of float at l = 1 already. A phase that is no number makes terms none.
    constexpr double limit = 300;
    rate *= log2_e;
    rate_ = rate < -limit ? -limit : rate > limit ? limit : rate;
    if (!isfinite(angle)) rate_ = NAN;
    turns_ = isfinite(angle) ? fraction_of_turns(angle) : 0;
    high_ = static_cast<float>(rate_);
    low_ = static_cast<float>(rate_ - double(high_));
  }

  /// Re a / log 2, rounded.
  __device__ float rate() const { return high_; }

  __device__ Start start(index_t l) const {
    if (l == 0) return {};
    const double exponent = static_cast<double>(l) * rate_;
    // Comparisons, not fmin: NaN stays.
    constexpr double limit = 4096;
    const double bounded = exponent < -limit ? -limit : exponent > limit ? limit : exponent;
    const double whole = rint(bounded);
    return {turns_ * static_cast<unsigned long long>(l), static_cast<float>(whole),
            static_cast<float>(bounded - whole)};
  }

  /// exp((l0 + l) a) 2^-shift, 0 <= l < 2^24, with a whole shift.
  __device__ Complex<float> operator()(int l, const Start& start, float shift) const {
    const auto count = static_cast<float>(l);
    // At l = 0 what is no number does not count.
    const float high = l == 0 ? 0 : count * high_;
    const float low = l == 0 ? 0 : fma(count, low_, fma(count, high_, -high));
    const float whole = rint(high + start.rest), rest = (high - whole) + (low + start.rest);
    const float2 scale = factors_of_two(whole + start.whole - shift);
    const float modulus = exp2_near_zero(rest) * scale.x * scale.y;
    const Complex<float> direction =
        unit_at(start.phase + turns_ * static_cast<unsigned long long>(l));
    return modulus * direction;
  }

  /// 2^e as the product of two numbers, e whole or NaN.
  static __device__ float2 factors_of_two(float e) {
    const int exponent = static_cast<int>(fmin(fmax(e, -252.f), 254.f)), half = exponent >> 1;
    const auto scale = [](int k) { return __int_as_float((127 + k) << 23); };
    return {scale(half), scale(exponent - half)};
  }

 private:
  /// 2^x, |x| <= 0.6.
  static __device__ float exp2_near_zero(float x) {
    float p = 0.000154531634f;
    p = fma(p, x, 0.00133908633f);
    p = fma(p, x, 0.00961808302f);
    p = fma(p, x, 0.0555035695f);
    p = fma(p, x, 0.240226507f);
    p = fma(p, x, 0.693147182f);
    return fma(p, x, 1.f);
  }
  double rate_;
  unsigned long long turns_;
  float high_, low_;
};

}  // namespace structmat::gpu
