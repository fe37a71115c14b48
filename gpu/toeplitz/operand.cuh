/// \file
/// Columns of operands and results as the kernels of Toeplitz products see them.
#pragma once

#include "core/strided.cuh"

namespace structmat::toeplitz::device {

using gpu::Complex;

/// One right-hand side of one batch entry.
struct Column {
  index_t batch, index;
};
__device__ inline Column column_of(index_t unit, index_t k) {
  const index_t batch = unit / k;
  return {batch, unit - batch * k};
}

/// op(A) for the four that products and their derivatives need: A, A^H, A^T = conj(A^H conj(.)) and
/// conj(A) = conj(A conj(.)).
struct Action {
  bool adjoint = false, conjugated = false;
};

/// x, read as zero beyond its end.
template <class T>
struct Input {
  gpu::Strided<const T, 3> data;
  index_t rows;
  bool conjugated;

  __device__ T operator()(Column at, index_t i) const {
    return i < rows ? gpu::conjugate_if(conjugated, data(at.batch, i, at.index)) : T(0);
  }
};

/// y, not written beyond its end. Results are scaled by a power of two of the batch entry, in two
/// steps since it may lie outside the range of one number.
template <class T>
struct Output {
  using R = gpu::real_of_t<T>;
  gpu::Strided<T, 3> data;
  index_t rows;
  bool conjugated, add;
  const int* exponents;  ///< null: none
  index_t exponent_step;

  struct Scale {
    R first, second;
  };
  __device__ Scale scale(Column at) const {
    const int exponent = exponents == nullptr ? 0 : exponents[at.batch * exponent_step];
    const int half = exponent / 2;
    return {scalbn(R(1), half), scalbn(R(1), exponent - half)};
  }
  __device__ void write(Column at, index_t i, T value, Scale scale, bool more) const {
    if (i >= rows) return;
    T& y = data(at.batch, i, at.index);
    value = gpu::conjugate_if(conjugated, value * scale.first * scale.second);
    y = add || more ? y + value : value;
  }
};

}  // namespace structmat::toeplitz::device
