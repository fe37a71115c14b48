/// \file
/// Rows of scalars as vector registers like them, and the step that all recursions are made of.
#pragma once

#include <algorithm>

#include "core/simd.hpp"
#include "structmat/core/array.hpp"

namespace structmat::toeplitz {

/// Lanes of one 64-byte vector.
template <Scalar T>
inline constexpr int lanes = 64 / static_cast<int>(sizeof(real_t<T>));

/// A place in a row: real parts from re on; imaginary parts, if T has them, from im on.
template <Scalar T>
struct Planes {
  using R = real_t<T>;
  R *re = nullptr, *im = nullptr;

  STRUCTMAT_INLINE Planes operator+(index_t i) const {
    if constexpr (is_complex_v<T>) return {re + i, im + i};
    return {re + i, nullptr};
  }
  STRUCTMAT_INLINE T get(index_t i) const {
    if constexpr (is_complex_v<T>)
      return {re[i], im[i]};
    else
      return re[i];
  }
  STRUCTMAT_INLINE void set(index_t i, const T& value) const {
    re[i] = std::real(value);
    if constexpr (is_complex_v<T>) im[i] = value.imag();
  }
};

/// n scalars that are 0 at first, and a vector more that may be read and written in passing.
template <Scalar T>
class Planar {
 public:
  explicit Planar(index_t n) : parts_({is_complex_v<T> ? 2 : 1, n + 2 * lanes<T>}) {}

  Planes<T> begin() {
    return {parts_.data(), is_complex_v<T> ? parts_.data() + parts_.extent(1) : nullptr};
  }
  void clear() { std::fill_n(parts_.data(), parts_.size(), real_t<T>{0}); }

 private:
  Array<real_t<T>, 2> parts_;
};

/// (x, y) := (x + rho y, conj(rho) x + y) for `count` scalars, rounded up to whole vectors.
template <Scalar T>
STRUCTMAT_INLINE void reflect(const T& rho, const Planes<T>& x, const Planes<T>& y, index_t count) {
  using R = real_t<T>;
  using V = simd::Vector<R, lanes<T>>;
  for (index_t i = 0; i < count; i += lanes<T>) {
    const V xr = simd::load<V>(x.re + i), yr = simd::load<V>(y.re + i);
    if constexpr (is_complex_v<T>) {
      const V xi = simd::load<V>(x.im + i), yi = simd::load<V>(y.im + i);
      const R c = rho.real(), s = rho.imag();
      simd::store(x.re + i, xr + c * yr - s * yi);
      simd::store(x.im + i, xi + c * yi + s * yr);
      simd::store(y.re + i, yr + c * xr + s * xi);
      simd::store(y.im + i, yi + c * xi - s * xr);
    } else {
      simd::store(x.re + i, xr + rho * yr);
      simd::store(y.re + i, yr + rho * xr);
    }
  }
}

/// sum_i x_i conj(y_i); x and y are 0 up to a whole vector.
template <Scalar T>
STRUCTMAT_INLINE T inner_product(const Planes<T>& x, const Planes<T>& y, index_t count) {
  using R = real_t<T>;
  constexpr int W = lanes<T>, chains = 4;
  using V = simd::Vector<R, W>;
  V re[chains]{}, im[chains]{};
  const auto add = [&](index_t i, int c) STRUCTMAT_ALWAYS {
    const V xr = simd::load<V>(x.re + i), yr = simd::load<V>(y.re + i);
    if constexpr (is_complex_v<T>) {
      const V xi = simd::load<V>(x.im + i), yi = simd::load<V>(y.im + i);
      re[c] += xr * yr + xi * yi;
      im[c] += xi * yr - xr * yi;
    } else {
      re[c] += xr * yr;
    }
  };
  index_t i = 0;
  for (; i + chains * W <= count; i += chains * W) {
    for (int c = 0; c < chains; ++c) add(i + c * W, c);
  }
  for (; i < count; i += W) add(i, 0);
  const R real = simd::sum<R, W>((re[0] + re[1]) + (re[2] + re[3]));
  if constexpr (is_complex_v<T>) {
    return {real, simd::sum<R, W>((im[0] + im[1]) + (im[2] + im[3]))};
  } else {
    return real;
  }
}

}  // namespace structmat::toeplitz
