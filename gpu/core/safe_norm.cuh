/// \file
/// Norms of numbers whose squares may leave the range.
#pragma once

#include "core/reduce.cuh"

namespace structmat::gpu {

/// sqrt of a sum of squares. NaN and infinities come out as such.
class SafeNorm {
 public:
  __device__ void add(double a) {
    const double size = fabs(a);
    if (size > 1e140) {
      const double down = size * 1e-200;
      large_ += down * down;
    } else if (size < 1e-140) {
      const double up = size * 1e200;
      small_ += up * up;
    } else {
      // NaN, too.
      middle_ += size * size;
    }
  }
  /// |a 2^exponent|
  template <class R>
  __device__ void add(Complex<R> a, int exponent = 0) {
    add(ldexp(static_cast<double>(a.re), exponent));
    add(ldexp(static_cast<double>(a.im), exponent));
  }
  __device__ void add(double a, int exponent) { add(ldexp(a, exponent)); }

  /// Over a block; scratch: 32 numbers, free again after the next barrier.
  __device__ double block_value(double* scratch) {
    small_ = block_sum(small_, scratch);
    __syncthreads();
    middle_ = block_sum(middle_, scratch);
    __syncthreads();
    large_ = block_sum(large_, scratch);
    return hypot(hypot(sqrt(small_) * 1e-200, sqrt(middle_)), sqrt(large_) * 1e200);
  }

 private:
  double small_ = 0, middle_ = 0, large_ = 0;
};

}  // namespace structmat::gpu
