/// \file
/// Loops over vectors of interleaved complex numbers: twists into and out of transforms, and
/// products of spectra. All counts are multiples of `pad`.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "core/simd.hpp"

namespace structmat::toeplitz {

/// Numbers to which rows of spectra are filled up.
inline constexpr index_t pad = 16;

constexpr index_t padded(index_t n) {
  return (n + pad - 1) / pad * pad;
}

namespace kernels {

template <RealScalar R>
inline constexpr int width = 64 / int(sizeof(R));
template <RealScalar R>
using Reals = simd::Vector<R, width<R>>;
template <RealScalar R>
using Integer = std::conditional_t<sizeof(R) == 4, std::int32_t, std::int64_t>;
template <RealScalar R>
struct IntegersOf {
  typedef Integer<R> type __attribute__((vector_size(64)));
};
template <RealScalar R>
using Integers = typename IntegersOf<R>::type;

template <class V, int... I>
STRUCTMAT_INLINE V even_twice(const V& v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I / 2 * 2)...);
}
template <class V, int... I>
STRUCTMAT_INLINE V odd_twice(const V& v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I / 2 * 2 + 1)...);
}
template <class V, int... I>
STRUCTMAT_INLINE V swapped(const V& v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I ^ 1)...);
}
template <int First, class V, int... I>
STRUCTMAT_INLINE V each_twice(const V& v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (First + I / 2)...);
}
template <class V, int... I>
STRUCTMAT_INLINE V sums_of_pairs(const V& a, const V& b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...) + __builtin_shufflevector(a, b, (2 * I + 1)...);
}
template <RealScalar R>
using Sequence = std::make_integer_sequence<int, width<R>>;

/// (re, im, re, im, ...)
template <RealScalar R>
STRUCTMAT_INLINE Reals<R> alternating(R re, R im) {
  Reals<R> v{};
  for (int i = 0; i < width<R>; ++i) v[i] = i % 2 == 0 ? re : im;
  return v;
}

/// a b, or conj(a) b.
template <RealScalar R, bool Conjugate = false>
STRUCTMAT_INLINE Reals<R> complex_product(const Reals<R>& a, const Reals<R>& b) {
  constexpr Sequence<R> lanes;
  const Reals<R> signs = Conjugate ? alternating<R>(1, -1) : alternating<R>(-1, 1);
  return even_twice(a, lanes) * b + signs * odd_twice(a, lanes) * swapped(b, lanes);
}

/// x with zeros in place of what is not finite; `largest` collects the bits of the moduli.
template <RealScalar R>
STRUCTMAT_INLINE Reals<R> finite_part(const Reals<R>& x, Integers<R>& largest) {
  constexpr Integer<R> modulus = std::numeric_limits<Integer<R>>::max();
  const Integers<R> infinity =
      reinterpret_cast<Integers<R>>(Reals<R>{} + std::numeric_limits<R>::infinity());
  const Integers<R> bits = reinterpret_cast<Integers<R>>(x) & modulus;
  const Integers<R> above = bits > largest;
  largest = (bits & above) | (largest & ~above);
  return reinterpret_cast<Reals<R>>(reinterpret_cast<Integers<R>>(x) & (bits < infinity));
}

/// z_j := scale x_j w_j for finite x_j, otherwise 0; for complex x also second_j := scale x_j conj(w_j).
/// conjugated: with conj(x_j). Returns the bits of the largest modulus of a part of x.
template <Scalar T>
STRUCTMAT_CLONES Integer<real_t<T>> twist(const T* x, bool conjugated, real_t<T> scale,
                                          const std::complex<real_t<T>>* w, index_t count,
                                          std::complex<real_t<T>>* z,
                                          std::complex<real_t<T>>* second) {
  using R = real_t<T>;
  using V = Reals<R>;
  constexpr int W = width<R>;
  const R* const ws = reinterpret_cast<const R*>(w);
  R* const zs = reinterpret_cast<R*>(z);
  Integers<R> largest{};
  if constexpr (is_complex_v<T>) {
    const R* const xs = reinterpret_cast<const R*>(x);
    const V factor = alternating<R>(scale, conjugated ? -scale : scale);
    for (index_t j = 0; j < 2 * count; j += W) {
      const V v = finite_part<R>(simd::load<V>(xs + j), largest) * factor;
      const V twist = simd::load<V>(ws + j);
      simd::store(zs + j, complex_product<R>(twist, v));
      simd::store(reinterpret_cast<R*>(second) + j, complex_product<R, true>(twist, v));
    }
  } else {
    for (index_t j = 0; j < count; j += W) {
      const V v = finite_part<R>(simd::load<V>(x + j), largest) * scale;
      const V low = each_twice<0>(v, Sequence<R>{}), high = each_twice<W / 2>(v, Sequence<R>{});
      simd::store(zs + 2 * j, low * simd::load<V>(ws + 2 * j));
      simd::store(zs + 2 * j + W, high * simd::load<V>(ws + 2 * j + W));
    }
  }
  Integer<R> most = 0;
  for (int i = 0; i < W; ++i) most = std::max<Integer<R>>(most, largest[i]);
  return most;
}

/// y_j := the real part of z_j conj(w_j), or z_j conj(w_j) + second_j w_j, times two scales;
/// conjugated: its conjugate.
template <Scalar T>
STRUCTMAT_CLONES void untwist(const std::complex<real_t<T>>* z,
                              const std::complex<real_t<T>>* second,
                              const std::complex<real_t<T>>* w, index_t count, bool conjugated,
                              const std::array<real_t<T>, 2>& scale, T* y) {
  using R = real_t<T>;
  using V = Reals<R>;
  constexpr int W = width<R>;
  const R *const ws = reinterpret_cast<const R*>(w), *const zs = reinterpret_cast<const R*>(z);
  if constexpr (is_complex_v<T>) {
    R* const ys = reinterpret_cast<R*>(y);
    const V factor = alternating<R>(scale[0], conjugated ? -scale[0] : scale[0]);
    for (index_t j = 0; j < 2 * count; j += W) {
      const V twist = simd::load<V>(ws + j);
      const V v = complex_product<R, true>(twist, simd::load<V>(zs + j)) +
                  complex_product<R>(twist, simd::load<V>(reinterpret_cast<const R*>(second) + j));
      simd::store(ys + j, V(v * factor * scale[1]));
    }
  } else {
    for (index_t j = 0; j < count; j += W) {
      const V low = simd::load<V>(zs + 2 * j) * simd::load<V>(ws + 2 * j);
      const V high = simd::load<V>(zs + 2 * j + W) * simd::load<V>(ws + 2 * j + W);
      simd::store(y + j, V(sums_of_pairs(low, high, Sequence<R>{}) * scale[0] * scale[1]));
    }
  }
}

/// z := a x or conj(a) x, or z += that. z may be x.
template <RealScalar R>
STRUCTMAT_CLONES void multiply(const std::complex<R>* a, bool conjugated, const std::complex<R>* x,
                               index_t count, bool add, std::complex<R>* z) {
  using V = Reals<R>;
  const R *const as = reinterpret_cast<const R*>(a), *const xs = reinterpret_cast<const R*>(x);
  R* const zs = reinterpret_cast<R*>(z);
  const V sign = conjugated ? alternating<R>(1, -1) : alternating<R>(1, 1);
  for (index_t j = 0; j < 2 * count; j += width<R>) {
    V v = complex_product<R>(simd::load<V>(as + j) * sign, simd::load<V>(xs + j));
    if (add) v += simd::load<V>(zs + j);
    simd::store(zs + j, v);
  }
}

/// w_j := start fine_j.
template <RealScalar R>
STRUCTMAT_CLONES void powers(const std::complex<R>& start, const std::complex<R>* fine,
                             index_t count, std::complex<R>* w) {
  using V = Reals<R>;
  const V factor = alternating<R>(start.real(), start.imag());
  for (index_t j = 0; j < 2 * count; j += width<R>) {
    simd::store(reinterpret_cast<R*>(w) + j,
                complex_product<R>(factor, simd::load<V>(reinterpret_cast<const R*>(fine) + j)));
  }
}

}  // namespace kernels
}  // namespace structmat::toeplitz
