/// \file
/// Norm, scale and first fault of each matrix of a batch.
#pragma once

#include "verify/batch_sweep.cuh"

namespace structmat::verify::batch {

template <class T>
struct InspectProblem {
  Strided<const T, 3> m;
  index_t batch, n;
  Inspected* inspected;
};

/// A block for each matrix.
template <class T>
__global__ void __launch_bounds__(threads)
    inspect_matrices(const __grid_constant__ InspectProblem<T> p) {
  __shared__ double scratch[32];
  __shared__ index_t broken_of[threads];
  const bool along_row = abs(p.m.stride[2]) <= abs(p.m.stride[1]);
  const auto visit = [&](index_t b, const auto& each) {
    for (index_t at = threadIdx.x; at < p.n * p.n; at += threads) {
      const index_t major = at / p.n, minor = at - major * p.n;
      const index_t i = along_row ? major : minor, j = along_row ? minor : major;
      each(i, j, p.m(b, i, j));
    }
  };
  for (index_t b = blockIdx.x; b < p.batch; b += gridDim.x) {
    double largest = 0;
    index_t broken = -1;
    int above = 0, below = 0;
    visit(b, [&](index_t i, index_t j, T value) {
      double size = 0;
      if constexpr (gpu::is_complex<T>) {
        const double re = fabs(static_cast<double>(value.re));
        const double im = fabs(static_cast<double>(value.im));
        size = re + im <= INFINITY ? max(re, im) : static_cast<double>(NAN);
      } else {
        size = fabs(static_cast<double>(value));
      }
      if (size < static_cast<double>(INFINITY)) {
        largest = max(largest, size);
      } else if (broken < 0 || i * p.n + j < broken) {
        broken = i * p.n + j;
      }
      above |= static_cast<int>(i < j && size != 0);
      below |= static_cast<int>(i > j && size != 0);
    });
    __syncthreads();
    broken_of[threadIdx.x] = broken;
    largest = Team::max(largest, scratch);
    above = __syncthreads_or(above);
    below = __syncthreads_or(below);
    const int exponent = largest > 0 ? ilogb(largest) : 0;
    const double half = ldexp(1.0, -exponent / 2), rest = ldexp(1.0, -exponent + exponent / 2);
    double squares = 0;
    visit(b, [&](index_t, index_t, T value) {
      if constexpr (gpu::is_complex<T>) {
        const double re = rest * (half * static_cast<double>(value.re));
        const double im = rest * (half * static_cast<double>(value.im));
        squares += re * re + im * im;
      } else {
        const double scaled = rest * (half * static_cast<double>(value));
        squares += scaled * scaled;
      }
    });
    squares = gpu::block_sum(squares, scratch);
    if (threadIdx.x == 0) {
      for (const index_t other : broken_of) {
        if (other >= 0 && (broken < 0 || other < broken)) broken = other;
      }
      p.inspected[b] = {sqrt(squares), exponent, broken, above != 0, below != 0};
    }
  }
}

}  // namespace structmat::verify::batch
