/// \file
/// Terms exp(l a) of float for tables: exponents and phases of the start of a table exactly, as
/// Geometric has them, steps within it in few operations.
#pragma once

#include "vandermonde/geometric.cuh"

namespace structmat::gpu {

/// exp(2 pi i (phase / 2^64 - 1 / 8))
__device__ inline Complex<float> unit_at(unsigned long long shifted) {
  // A quarter turn and x pi / 4, |x| <= 1.
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

/// 2^k, -126 <= k <= 127.
__device__ inline float power_of_two(int k) {
  return __int_as_float((127 + k) << 23);
}

class Exponential {
 public:
  /// The phase of exp(0), by an eighth of a turn further on, as unit_at wants it.
  static constexpr unsigned long long no_phase = 1ull << 61;
  /// Where a table begins: exp(l0 a).
  struct Start {
    unsigned long long phase;  ///< in units of 2^-64 turns, from no_phase on
    int whole;                 ///< the exponent of 2
    float rest;
  };

  Exponential() = default;
  __device__ explicit Exponential(Complex<float> a) : Exponential(double(a.re), double(a.im)) {}
  /// a = rate + i angle. A phase that is no number makes terms none.
  __device__ Exponential(double rate, double angle) {
    set_rate(isfinite(angle) ? rate : double(NAN));
    set_angle(angle);
  }
  /// The two parts, for two threads.
  __device__ void set_rate(double rate) {
    constexpr double log2_e = 1.4426950408889634;
    rate *= log2_e;
    // Beyond the range of float at l = 1 already. Comparisons, not fmin: NaN stays.
    rate_ = rate < -limit ? -limit : rate > limit ? limit : rate;
    high_ = static_cast<float>(rate_);
    low_ = static_cast<float>(rate_ - double(high_));
  }
  __device__ void set_angle(double angle) {
    turns_ = isfinite(angle) ? fraction_of_turns(angle) : 0;
  }

  static constexpr double limit = 200;
  /// Re a / log 2, rounded, between -limit and limit.
  __device__ float rate() const { return high_; }

  __device__ Start start(index_t l) const {
    if (l == 0) return {no_phase, 0, 0};
    const double exponent = static_cast<double>(l) * rate_;
    constexpr double bound = 4096;
    const double bounded = exponent < -bound ? -bound : exponent > bound ? bound : exponent;
    const double whole = isnan(bounded) ? 0 : rint(bounded);
    return {no_phase + turns_ * static_cast<unsigned long long>(l), static_cast<int>(whole),
            static_cast<float>(bounded - whole)};
  }

  /// exp((l0 + l) a), l < 2^14.
  __device__ Complex<float> operator()(unsigned l, const Start& start) const {
    const Modulus m(*this, l, start.rest);
    const int exponent = min(max(m.whole + start.whole, -252), 254), half = exponent >> 1;
    return (m.rest * power_of_two(half) * power_of_two(exponent - half)) *
           unit_at(start.phase + turns_ * l);
  }
  /// exp(l a) 2^-shift, l < 2^14, below 2^100; what is below 2^-100 may be anything below that.
  __device__ Complex<float> operator()(unsigned l, int shift) const {
    const Modulus m(*this, l, 0);
    return (m.rest * power_of_two(max(m.whole - shift, -100))) * unit_at(no_phase + turns_ * l);
  }

 private:
  /// |exp(l a)| 2^x as 2^whole rest.
  struct Modulus {
    int whole;
    float rest;
    __device__ Modulus(const Exponential& e, unsigned l, float x) {
      const auto count = static_cast<float>(static_cast<int>(l));
      // At l = 0 what is no number does not count.
      const float high = l == 0 ? 0 : count * e.high_;
      const float low = l == 0 ? 0 : fma(count, e.low_, fma(count, e.high_, -high));
      // Numbers around 1.5 2^23 are whole, and have them in their last bits.
      constexpr float around = 0x1.8p23f;
      const float rounded = (high + x) + around;
      whole = __float_as_int(rounded) - __float_as_int(around);
      rest = exp2_near_zero((high - (rounded - around)) + (low + x));
    }
  };
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
