/// \file
/// Sums over the terms of a displacement.
#pragma once

#include "core/strided.cuh"

namespace structmat::displacement::device {

/// y(b, i, c) := sum_l terms(l, b, i, c), in order; without terms zero.
template <class T>
struct TermSum {
  const T* terms;  ///< (count, batch, rows, k)
  gpu::Strided<T, 3> y;
  index_t count, batch, rows, k;
};

template <class T>
__global__ void __launch_bounds__(256) sum_terms_kernel(const __grid_constant__ TermSum<T> p) {
  const index_t size = p.batch * p.rows * p.k;
  for (index_t at = index_t{blockIdx.x} * blockDim.x + threadIdx.x; at < size;
       at += index_t{gridDim.x} * blockDim.x) {
    const index_t row = at / p.k, b = row / p.rows;
    T sum = p.count > 0 ? p.terms[at] : T(0);
    for (index_t l = 1; l < p.count; ++l) sum += p.terms[l * size + at];
    p.y(b, row - b * p.rows, at - row * p.k) = sum;
  }
}

template <class T>
void sum_terms(const char* operation, cudaStream_t stream, const T* terms, index_t count,
               const View<T, 3, space::cuda>& y) {
  using D = gpu::device_scalar_t<T>;
  constexpr unsigned threads = 256;
  const int processors = gpu::multiprocessors(operation);
  const TermSum<D> p{
      gpu::device_pointer(terms), gpu::strided(y), count, y.extent(0), y.extent(1), y.extent(2)};
  gpu::launch(operation, sum_terms_kernel<D>,
              gpu::Grid{gpu::persistent_blocks(y.size(), threads, processors), threads}, stream, p);
}

}  // namespace structmat::displacement::device
