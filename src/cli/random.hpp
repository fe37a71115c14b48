/// \file
/// Random numbers that are the same for a seed on every platform.
#pragma once

#include <cmath>
#include <random>

#include "structmat/core/array.hpp"

namespace structmat::cli {

/// std::mt19937_64 is defined bit for bit by the standard; its distributions are not, hence these.
/// log may differ in the last bit between mathematical libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// 0 <= u < 1, a multiple of 2^-53.
  double uniform() { return double(engine_() >> 11) * 0x1p-53; }

  /// N(0, 1), by Marsaglia's polar method.
  double normal() {
    for (;;) {
      const double x = 2 * uniform() - 1, y = 2 * uniform() - 1;
      const double square = x * x + y * y;
      if (square < 1 && square > 0) return x * std::sqrt(-2 * std::log(square) / square);
    }
  }

  /// N(0, 1); complex: real and imaginary part independent, variance 1/2 each.
  template <Scalar T>
  T number() {
    if constexpr (is_complex_v<T>) {
      const double re = normal(), im = normal();
      return T(real_t<T>(re * std::sqrt(0.5)), real_t<T>(im * std::sqrt(0.5)));
    } else {
      return T(normal());
    }
  }

  /// A number of modulus 0.9 to 1: a sign, or a phase, times that.
  template <Scalar T>
  T contraction() {
    const T direction = number<T>();
    const auto modulus = real_t<T>(0.9 + 0.1 * uniform());
    const real_t<T> length = std::abs(direction);
    return length > 0 ? direction * (modulus / length) : T(modulus);
  }

  template <Scalar T, int Rank>
  void fill(Array<T, Rank>& a) {
    for (T& x : a) x = number<T>();
  }

 private:
  std::mt19937_64 engine_;
};

/// a(0, i) with |a| <= 1.
template <Scalar T>
void fill_transitions(Random& random, Array<T, 2>& a) {
  for (T& x : a) x = random.contraction<T>();
}
template <Scalar T>
void fill_transitions(Random& random, Array<T, 3>& a) {
  for (T& x : a) x = random.contraction<T>();
}
/// A contraction times a random reflection I - 2 v v^H / (v^H v): all singular values are 0.9 to 1,
/// so that products neither grow nor lose rank.
template <Scalar T>
void fill_transitions(Random& random, Array<T, 4>& a) {
  const index_t n = a.extent(1), r = a.extent(2);
  Array<T, 1> v({r});
  for (index_t i = 0; i < n; ++i) {
    const T scale = random.contraction<T>();
    random.fill(v);
    real_t<T> square = 0;
    for (const T& x : v) square += std::norm(x);
    const real_t<T> twice = square > 0 ? 2 / square : 0;
    for (index_t k = 0; k < r; ++k) {
      for (index_t l = 0; l < r; ++l) {
        a(0, i, k, l) = scale * (T(k == l ? 1 : 0) - twice * v(k) * conjugate(v(l)));
      }
    }
  }
}

}  // namespace structmat::cli
