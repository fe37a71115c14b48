/// \file
/// What stands around the transforms of a library, for lengths beyond those of twisted_kernel.cuh.
#pragma once

#include "toeplitz/twisted_kernel.cuh"

namespace structmat::toeplitz::device {

/// exp(i pi j / (2 L)) as the product of two numbers of tables.
template <class R>
struct TwistTable {
  static constexpr index_t fine_count = 1024;
  const Complex<R>*fine, *coarse;

  __device__ Complex<R> operator()(index_t j, int sheet) const {
    return gpu::conjugate_if(sheet > 0, coarse[j / fine_count] * fine[j % fine_count]);
  }
};

/// Sheet `sheet` of one column.
template <class T>
struct TwistProblem {
  using R = gpu::real_of_t<T>;
  Input<T> x;
  index_t x_sheet;
  Complex<R>* z;
  TwistTable<R> twist;
  index_t length, unit, k;
  int sheet;
};

template <class T>
__global__ void __launch_bounds__(256) twist_column(const __grid_constant__ TwistProblem<T> m) {
  const Column column = column_of(m.unit, m.k);
  Input<T> x = m.x;
  x.data.data += m.sheet * m.x_sheet;
  for (index_t j = index_t{blockIdx.x} * blockDim.x + threadIdx.x; j < m.length;
       j += index_t{gridDim.x} * blockDim.x) {
    m.z[j] = m.twist(j, m.sheet) * x(column, j);
  }
}

template <class T>
struct UntwistProblem {
  using R = gpu::real_of_t<T>;
  Output<T> y;
  const Complex<R>* z;
  TwistTable<R> twist;
  index_t length, unit, k;
  int sheet;
};

template <class T>
__global__ void __launch_bounds__(256) untwist_column(const __grid_constant__ UntwistProblem<T> m) {
  const Column column = column_of(m.unit, m.k);
  const auto scale = m.y.scale(column);
  for (index_t j = index_t{blockIdx.x} * blockDim.x + threadIdx.x; j < m.length;
       j += index_t{gridDim.x} * blockDim.x) {
    const auto v = gpu::conjugate(m.twist(j, m.sheet)) * m.z[j];
    if constexpr (gpu::is_complex<T>)
      m.y.write(column, j, v, scale, m.sheet > 0);
    else
      m.y.write(column, j, v.re, scale, false);
  }
}

/// z := a x or conj(a) x, or z += that; z may be x.
template <class R>
struct SpectrumProblem {
  const Complex<R>*a, *x;
  Complex<R>* z;
  index_t length;
  bool conjugated, add;
};

template <class R>
__global__ void __launch_bounds__(256)
    multiply_spectrum(const __grid_constant__ SpectrumProblem<R> m) {
  for (index_t j = index_t{blockIdx.x} * blockDim.x + threadIdx.x; j < m.length;
       j += index_t{gridDim.x} * blockDim.x) {
    const Complex<R> v = gpu::conjugate_if(m.conjugated, m.a[j]) * m.x[j];
    m.z[j] = m.add ? m.z[j] + v : v;
  }
}

}  // namespace structmat::toeplitz::device
