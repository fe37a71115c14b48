/// \file
/// Cauchy sums on mapped roots of unity in kernels: operands and nodes.
#pragma once

#include "core/strided.cuh"

namespace structmat::gpu {

/// Sums at exp(-2 pi i k / length), of poles lambda with steps dt.
template <class T>
struct RootSumsProblem {
  Strided<const T, 2> poles;
  Strided<const real_of_t<T>, 1> dt;
  Strided<const T, 3> v;
  Strided<T, 3> y;
  index_t batch, columns, count, length;

  /// lambda dt / 2
  __device__ Complex<double> half_step(index_t b, index_t n) const {
    const T pole = poles(b, n);
    return (0.5 * double(dt(b))) * Complex<double>(pole.re, pole.im);
  }
};

/// Long sums in float on tensor cores; length: a multiple of 128.
void root_sums_split(const char* operation, int processors, cudaStream_t stream,
                     const RootSumsProblem<Complex<float>>& problem);

}  // namespace structmat::gpu
