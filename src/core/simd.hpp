/// \file
/// Vectors of lanes for leaf loops, and the attribute that compiles such a loop for several
/// instruction sets.
#pragma once

#include <cstring>
#include <utility>

#include "structmat/core/scalar.hpp"

/// The function is compiled for AVX-512 (x86-64-v4), AVX2 (v3) and the baseline; the loader picks
/// one. Sanitizers cannot instrument the resolver that does so, and clang 14 does not clone
/// templates.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STRUCTMAT_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define STRUCTMAT_CLONES
#endif

/// For lambdas inside cloned functions.
#define STRUCTMAT_ALWAYS __attribute__((always_inline))

/// Bodies of cloned functions must be inlined into each clone to be compiled for its instruction
/// set.
#define STRUCTMAT_INLINE inline __attribute__((always_inline))

namespace structmat::simd {

/// W numbers of a real type that the compiler keeps in registers, however wide those are.
template <RealScalar R, int W>
struct VectorType {
  typedef R type __attribute__((vector_size(W * sizeof(R))));
};
template <RealScalar R>
struct VectorType<R, 1> {
  using type = R;
};
template <RealScalar R, int W>
using Vector = typename VectorType<R, W>::type;

template <class V, class R>
STRUCTMAT_INLINE V load(const R* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class R>
STRUCTMAT_INLINE void store(R* p, const V& v) {
  std::memcpy(p, &v, sizeof v);
}

namespace detail {
template <int First, class V, int... I>
STRUCTMAT_INLINE auto half(const V& v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (First + I)...);
}
}  // namespace detail

/// Sum of the lanes by halving.
template <RealScalar R, int W>
STRUCTMAT_INLINE R sum(const Vector<R, W>& v) {
  if constexpr (W == 1) {
    return v;
  } else if constexpr (W == 2) {
    return v[0] + v[1];
  } else {
    using Half = std::make_integer_sequence<int, W / 2>;
    return sum<R, W / 2>(detail::half<0>(v, Half{}) + detail::half<W / 2>(v, Half{}));
  }
}

/// W scalars of type T; complex ones with separated real and imaginary parts.
template <Scalar T, int W>
struct Lanes {
  static constexpr int reals = W;
  Vector<T, W> v;

  STRUCTMAT_INLINE static Lanes zero() { return {Vector<T, W>{}}; }
  STRUCTMAT_INLINE static Lanes fill(const T& c) { return {Vector<T, W>{} + c}; }
  STRUCTMAT_INLINE static Lanes load(const T* p) { return {simd::load<Vector<T, W>>(p)}; }
  STRUCTMAT_INLINE void store(T* p) const { simd::store(p, v); }
  /// this + c * x
  STRUCTMAT_INLINE Lanes plus(const T& c, const Lanes& x) const { return {v + c * x.v}; }
};

template <RealScalar R, int W>
struct Lanes<std::complex<R>, W> {
  static constexpr int reals = 2 * W;
  Vector<R, W> re, im;

  STRUCTMAT_INLINE static Lanes zero() { return {Vector<R, W>{}, Vector<R, W>{}}; }
  STRUCTMAT_INLINE static Lanes fill(const std::complex<R>& c) {
    return {Vector<R, W>{} + c.real(), Vector<R, W>{} + c.imag()};
  }
  STRUCTMAT_INLINE static Lanes load(const R* p) {
    return {simd::load<Vector<R, W>>(p), simd::load<Vector<R, W>>(p + W)};
  }
  STRUCTMAT_INLINE void store(R* p) const {
    simd::store(p, re);
    simd::store(p + W, im);
  }
  STRUCTMAT_INLINE Lanes plus(const std::complex<R>& c, const Lanes& x) const {
    return {re + c.real() * x.re - c.imag() * x.im, im + c.real() * x.im + c.imag() * x.re};
  }
};

/// sum + conj(x) y
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<R, W> plus_conjugate(const Lanes<R, W>& sum, const Lanes<R, W>& x,
                                            const Lanes<R, W>& y) {
  return {sum.v + x.v * y.v};
}
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> plus_conjugate(const Lanes<std::complex<R>, W>& sum,
                                                          const Lanes<std::complex<R>, W>& x,
                                                          const Lanes<std::complex<R>, W>& y) {
  return {sum.re + x.re * y.re + x.im * y.im, sum.im + x.re * y.im - x.im * y.re};
}

/// |x|^2
template <RealScalar R, int W>
STRUCTMAT_INLINE Vector<R, W> square(const Lanes<R, W>& x) {
  return x.v * x.v;
}
template <RealScalar R, int W>
STRUCTMAT_INLINE Vector<R, W> square(const Lanes<std::complex<R>, W>& x) {
  return x.re * x.re + x.im * x.im;
}

/// c x with a real factor for each lane.
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<R, W> times(const Vector<R, W>& c, const Lanes<R, W>& x) {
  return {c * x.v};
}
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> times(const Vector<R, W>& c,
                                                 const Lanes<std::complex<R>, W>& x) {
  return {c * x.re, c * x.im};
}

/// x + y
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<R, W> add(const Lanes<R, W>& x, const Lanes<R, W>& y) {
  return {x.v + y.v};
}
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> add(const Lanes<std::complex<R>, W>& x,
                                               const Lanes<std::complex<R>, W>& y) {
  return {x.re + y.re, x.im + y.im};
}

/// x - y
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<R, W> minus(const Lanes<R, W>& x, const Lanes<R, W>& y) {
  return {x.v - y.v};
}
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> minus(const Lanes<std::complex<R>, W>& x,
                                                 const Lanes<std::complex<R>, W>& y) {
  return {x.re - y.re, x.im - y.im};
}

/// sum + x y, lane by lane.
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<R, W> plus_product(const Lanes<R, W>& sum, const Lanes<R, W>& x,
                                          const Lanes<R, W>& y) {
  return {sum.v + x.v * y.v};
}
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> plus_product(const Lanes<std::complex<R>, W>& sum,
                                                        const Lanes<std::complex<R>, W>& x,
                                                        const Lanes<std::complex<R>, W>& y) {
  return {sum.re + x.re * y.re - x.im * y.im, sum.im + x.re * y.im + x.im * y.re};
}

/// conj(x)
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<R, W> conjugated(const Lanes<R, W>& x) {
  return x;
}
template <RealScalar R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> conjugated(const Lanes<std::complex<R>, W>& x) {
  return {x.re, -x.im};
}

/// The sum of the lanes.
template <RealScalar R, int W>
STRUCTMAT_INLINE R sum_lanes(const Lanes<R, W>& x) {
  return sum<R, W>(x.v);
}
template <RealScalar R, int W>
STRUCTMAT_INLINE std::complex<R> sum_lanes(const Lanes<std::complex<R>, W>& x) {
  return {sum<R, W>(x.re), sum<R, W>(x.im)};
}

}  // namespace structmat::simd
