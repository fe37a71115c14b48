/// \file
/// Reciprocals of differences of nodes.
#pragma once

#include <limits>

#include "core/complex.cuh"

namespace structmat::cauchy::device {

/// 1 / a to about 2 units in the last place for normal a with a normal reciprocal. Something that is
/// not finite for zero and for subnormal numbers.
__device__ inline float fast_reciprocal(float a) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return fabs(a) < std::numeric_limits<float>::min() ? copysign(INFINITY, a) : 1 / a;
#else
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
#endif
}
__device__ inline double fast_reciprocal(double a) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return fabs(a) < std::numeric_limits<double>::min() ? static_cast<double>(NAN) : 1 / a;
#else
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  // The seed has 20 bits and more: r (1 + e + e^2) leaves e^3.
  const double e = fma(-a, r, 1.0);
  return fma(r, fma(e, e, e), r);
#endif
}

/// 1 / a for every a; of infinite a it is zero, and that of zero is not finite, or zero where `skip`.
template <class R>
__device__ R exact_reciprocal(R a, bool skip) {
  return skip && a == 0 ? R(0) : 1 / a;
}
template <class R>
__device__ gpu::Complex<R> exact_reciprocal(gpu::Complex<R> a, bool skip) {
  if (isinf(a.re) || isinf(a.im)) return 0;
  if (skip && a == gpu::Complex<R>(0)) return 0;
  return gpu::reciprocal(a);
}

/// Nodes up to this size have products of two differences, and their reciprocals, in the range of the
/// type.
template <class R>
inline constexpr R most_squared = sizeof(R) == 4 ? R(0x1p60) : R(0x1p500);
/// And of four.
template <class R>
inline constexpr R most_fourth = sizeof(R) == 4 ? R(0x1p29) : R(0x1p250);

template <class T>
__device__ bool at_most(T a, gpu::real_of_t<T> bound) {
  if constexpr (gpu::is_complex<T>)
    return fabs(a.re) <= bound && fabs(a.im) <= bound;
  else
    return fabs(a) <= bound;
}

}  // namespace structmat::cauchy::device
