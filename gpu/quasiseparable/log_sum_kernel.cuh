/// \file
/// Sums over pivots: log |d_i|, signs, and |z_i|^2 / d_i. Segments of rows first, then segments in
/// order.
#pragma once

#include "core/reduce.cuh"
#include "core/strided.cuh"

namespace structmat::quasiseparable::device {

inline constexpr int rows_of_thread = 16;
inline constexpr unsigned log_sum_threads = 256;
inline constexpr index_t segment_length = index_t{log_sum_threads} * rows_of_thread;

struct LogSum {
  double log, squares;
  int negatives, zeros;
};

template <class T>
struct LogSumProblem {
  gpu::Strided<const gpu::real_of_t<T>, 2> d;
  gpu::Strided<const T, 2> z;  ///< null: no squares
  index_t n, batch, segments;
  LogSum* partial;  ///< (batch, segments)
};

/// A logarithm is taken only where the product of the numbers would leave the range of double.
class DeviceLogProduct {
 public:
  __device__ void times(double x) {
    constexpr double smallest = 1e-150, largest = 1e150;
    if (!(x > smallest && x < largest)) {
      sum_ += ::log(x);
      return;
    }
    product_ *= x;
    if (product_ > smallest && product_ < largest) return;
    sum_ += ::log(product_);
    product_ = 1;
  }
  __device__ double log() const { return sum_ + ::log(product_); }

 private:
  double product_ = 1, sum_ = 0;
};

template <class T>
__global__ void __launch_bounds__(log_sum_threads)
    sum_segments(const __grid_constant__ LogSumProblem<T> problem) {
  __shared__ double scratch[2][32];
  for (index_t unit = blockIdx.x; unit < problem.batch * problem.segments; unit += gridDim.x) {
    const index_t b = unit / problem.segments,
                  begin = (unit - b * problem.segments) * segment_length;
    DeviceLogProduct product;
    double squares = 0;
    int negatives = 0, zeros = 0;
    for (int row = 0; row < rows_of_thread; ++row) {
      const index_t i = begin + row * index_t{log_sum_threads} + threadIdx.x;
      if (i >= problem.n) break;
      const double d = problem.d(b, i);
      zeros += d == 0;
      negatives += d < 0;
      product.times(fabs(d));
      if (problem.z.data != nullptr)
        squares += static_cast<double>(gpu::square(problem.z(b, i))) / d;
    }
    const double log = gpu::block_sum(product.log(), scratch[0]);
    squares = gpu::block_sum(squares, scratch[1]);
    const int all_negatives = __syncthreads_count(negatives % 2 != 0);
    const int all_zeros = __syncthreads_count(zeros != 0);
    if (threadIdx.x == 0) {
      problem.partial[unit].log = log;
      problem.partial[unit].squares = squares;
      problem.partial[unit].negatives = all_negatives;
      problem.partial[unit].zeros = all_zeros;
    }
  }
}

/// The sum of all segments of a batch entry, in every lane of a warp.
template <class T>
__device__ LogSum sum_of_entry(const LogSumProblem<T>& problem, index_t b) {
  LogSum sum{0, 0, 0, 0};
  for (index_t s = threadIdx.x % 32; s < problem.segments; s += 32) {
    const LogSum& partial = problem.partial[b * problem.segments + s];
    sum.log += partial.log;
    sum.squares += partial.squares;
    sum.negatives += partial.negatives % 2;
    sum.zeros += partial.zeros != 0;
  }
  return {gpu::warp_sum(sum.log), gpu::warp_sum(sum.squares), gpu::warp_sum(sum.negatives),
          gpu::warp_sum(sum.zeros)};
}

}  // namespace structmat::quasiseparable::device
