/// \file
/// Complex numbers in kernels: the memory of std::complex, with the four products written out (as the
/// library does on the host, NaN is not repaired), and what code for real and complex scalars shares.
#pragma once

#include <complex>
#include <type_traits>

#include "core/launch.cuh"

namespace structmat::gpu {

template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;

  Complex() = default;
  __host__ __device__ constexpr Complex(R re_, R im_ = 0) : re(re_), im(im_) {}

  __host__ __device__ Complex& operator+=(Complex b) { return *this = {re + b.re, im + b.im}; }
  __host__ __device__ Complex& operator-=(Complex b) { return *this = {re - b.re, im - b.im}; }
  __host__ __device__ Complex& operator*=(Complex b) {
    return *this = {re * b.re - im * b.im, re * b.im + im * b.re};
  }
  __host__ __device__ Complex operator-() const { return {-re, -im}; }

  friend __host__ __device__ Complex operator+(Complex a, Complex b) { return a += b; }
  friend __host__ __device__ Complex operator-(Complex a, Complex b) { return a -= b; }
  friend __host__ __device__ Complex operator*(Complex a, Complex b) { return a *= b; }
  friend __host__ __device__ Complex operator*(R a, Complex b) { return {a * b.re, a * b.im}; }
  friend __host__ __device__ Complex operator*(Complex a, R b) { return b * a; }
  friend __host__ __device__ bool operator==(Complex a, Complex b) {
    return a.re == b.re && a.im == b.im;
  }
};

/// The type that kernels compute in: itself for float and double.
template <class T>
struct DeviceScalar {
  using type = T;
};
template <class R>
struct DeviceScalar<std::complex<R>> {
  using type = Complex<R>;
};
template <class R>
struct DeviceScalar<Complex<R>> {
  using type = Complex<R>;
};
template <class T>
struct DeviceScalar<const T> {
  using type = const typename DeviceScalar<T>::type;
};
template <class T>
using device_scalar_t = typename DeviceScalar<T>::type;

template <class T>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<Complex<R>> = true;

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<Complex<R>> {
  using type = R;
};
template <class T>
using real_of_t = typename RealOf<T>::type;

static_assert(sizeof(Complex<float>) == sizeof(std::complex<float>));
static_assert(std::is_trivially_copyable_v<Complex<double>>);

template <class R>
__host__ __device__ Complex<R> conjugate(Complex<R> a) {
  return {a.re, -a.im};
}
__host__ __device__ inline float conjugate(float a) {
  return a;
}
__host__ __device__ inline double conjugate(double a) {
  return a;
}
/// a, or its conjugate where `conjugated` holds.
template <class T>
__host__ __device__ T conjugate_if(bool conjugated, T a) {
  if constexpr (is_complex<T>) return {a.re, conjugated ? -a.im : a.im};
  return a;
}

template <class T>
__host__ __device__ real_of_t<T> real_part(T a) {
  if constexpr (is_complex<T>)
    return a.re;
  else
    return a;
}
/// |re| + |im|, or |a|: finite exactly when a is.
template <class T>
__host__ __device__ real_of_t<T> taxicab(T a) {
  if constexpr (is_complex<T>)
    return fabs(a.re) + fabs(a.im);
  else
    return fabs(a);
}
/// |a|^2.
template <class T>
__host__ __device__ real_of_t<T> square(T a) {
  if constexpr (is_complex<T>)
    return a.re * a.re + a.im * a.im;
  else
    return a * a;
}

/// a + b c with one rounding per real product.
__host__ __device__ inline float multiply_add(float b, float c, float a) {
  return fma(b, c, a);
}
__host__ __device__ inline double multiply_add(double b, double c, double a) {
  return fma(b, c, a);
}
template <class R>
__host__ __device__ Complex<R> multiply_add(Complex<R> b, Complex<R> c, Complex<R> a) {
  return {fma(b.re, c.re, fma(-b.im, c.im, a.re)), fma(b.re, c.im, fma(b.im, c.re, a.im))};
}

/// 1 / a, without overflow of |a|^2.
__host__ __device__ inline float reciprocal(float a) {
  return 1 / a;
}
__host__ __device__ inline double reciprocal(double a) {
  return 1 / a;
}
template <class R>
__host__ __device__ Complex<R> reciprocal(Complex<R> a) {
  if (fabs(a.re) >= fabs(a.im)) {
    const R ratio = a.im / a.re, scale = 1 / (a.re + a.im * ratio);
    return {scale, -ratio * scale};
  }
  const R ratio = a.re / a.im, scale = 1 / (a.im + a.re * ratio);
  return {ratio * scale, -scale};
}

/// From a neighbour of the warp.
template <class T>
__device__ T shuffle_xor(unsigned mask, T a, int bits, int width = 32) {
  if constexpr (is_complex<T>) {
    return {__shfl_xor_sync(mask, a.re, bits, width), __shfl_xor_sync(mask, a.im, bits, width)};
  } else {
    return __shfl_xor_sync(mask, a, bits, width);
  }
}
template <class T>
__device__ T shuffle(unsigned mask, T a, int source, int width = 32) {
  if constexpr (is_complex<T>) {
    return {__shfl_sync(mask, a.re, source, width), __shfl_sync(mask, a.im, source, width)};
  } else {
    return __shfl_sync(mask, a, source, width);
  }
}

/// Pointers of the library's scalars as pointers of the kernels' ones.
template <class T>
device_scalar_t<T>* device_pointer(T* pointer) {
  return reinterpret_cast<device_scalar_t<T>*>(pointer);
}

}  // namespace structmat::gpu
