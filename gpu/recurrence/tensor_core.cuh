/// \file
/// Small products in double precision on tensor cores: eight columns of states at a time, kept by a
/// warp in registers in such a way that no exchange between lanes is needed from step to step.
///
/// A lane holds column lane / 4 and of it states 8 s + 2 (lane % 4) + {0, 1} for each tile s. That is
/// how the instruction returns its result; as its left operand (transposed: eight columns by four
/// states) it would want states lane % 4, but in a sum over states their order is free: the first of
/// two steps takes the even states, the second the odd ones, and the right operand follows.
#pragma once

#include "core/complex.cuh"

namespace structmat::gpu::recurrence {

/// Parts of a number of type T: real, or real and imaginary.
template <class T>
inline constexpr int parts = is_complex<T> ? 2 : 1;

template <class T>
__device__ double part_of(T a, int part) {
  if constexpr (is_complex<T>)
    return part == 0 ? a.re : a.im;
  else
    return a;
}

/// d += a b with 8 x 4 a and 4 x 8 b. A lane holds a(lane / 4, lane % 4), b(lane % 4, lane / 4) and
/// d(lane / 4, 2 (lane % 4) + {0, 1}).
__device__ inline void multiply_add_8x8x4(double (&d)[2], double a, double b) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  __shared__ double operands[32][32][2];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  operands[warp][lane][0] = a;
  operands[warp][lane][1] = b;
  __syncwarp();
  for (int k = 0; k < 4; ++k) {
    const double left = operands[warp][lane / 4 * 4 + k][0];
    for (int i = 0; i < 2; ++i) {
      d[i] = fma(left, operands[warp][(2 * (lane % 4) + i) * 4 + k][1], d[i]);
    }
  }
  __syncwarp();
#else
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d[0]), "+d"(d[1])
      : "d"(a), "d"(b));
#endif
}

/// Eight columns of 8 R states with P parts.
template <int P, int R>
struct Columns {
  double v[R][P][2] = {};
};

template <int P, int R>
__device__ void add(Columns<P, R>& to, const Columns<P, R>& from) {
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int p = 0; p < P; ++p) {
      to.v[s][p][0] += from.v[s][p][0];
      to.v[s][p][1] += from.v[s][p][1];
    }
  }
}

/// Number by number: to choose one of two structures would put both into local memory.
template <int P, int R>
__device__ Columns<P, R> select(bool first, const Columns<P, R>& a, const Columns<P, R>& b) {
  Columns<P, R> result;
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int p = 0; p < P; ++p) {
      result.v[s][p][0] = first ? a.v[s][p][0] : b.v[s][p][0];
      result.v[s][p][1] = first ? a.v[s][p][1] : b.v[s][p][1];
    }
  }
  return result;
}

/// An 8 R x 8 R matrix. A lane holds rows 8 i + lane / 4 and of each columns 8 k + 2 (lane % 4) +
/// {0, 1}.
template <int P, int R>
struct Matrix {
  double v[R][R][P][2];
};

/// to += a from.
template <int P, int R>
__device__ void advance(const Matrix<P, R>& a, const Columns<P, R>& from, Columns<P, R>& to) {
#pragma unroll
  for (int k = 0; k < R; ++k) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int i = 0; i < R; ++i) {
        multiply_add_8x8x4(to.v[i][0], from.v[k][0][j], a.v[i][k][0][j]);
        if constexpr (P == 2) {
          multiply_add_8x8x4(to.v[i][1], from.v[k][0][j], a.v[i][k][1][j]);
          multiply_add_8x8x4(to.v[i][0], -from.v[k][1][j], a.v[i][k][1][j]);
          multiply_add_8x8x4(to.v[i][1], from.v[k][1][j], a.v[i][k][0][j]);
        }
      }
    }
  }
}

/// The largest of the four lanes of a column.
__device__ inline int column_max(int value) {
  value = max(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return max(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

/// e with 2^e <= |a| < 2^(e + 1); below_all for zero and denormal numbers, above_all for what is not
/// finite.
constexpr int below_all = -1023, above_all = 1024;
__device__ inline int binary_exponent(double a) {
  return static_cast<int>(__double_as_longlong(a) >> 52 & 0x7ff) - 1023;
}

/// Scales each column by a power of two, which its exponent takes up, so that the largest number is
/// about 1. A column that is not finite stays; one of zeros gets the exponent 0.
template <int P, int R>
__device__ void normalise(Columns<P, R>& columns, int& exponent) {
  int largest = below_all, something = 0;
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int p = 0; p < P; ++p) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        largest = max(largest, binary_exponent(columns.v[s][p][i]));
        something |= columns.v[s][p][i] != 0;
      }
    }
  }
  // Both in one exchange: the second is the last bit.
  largest = column_max(2 * largest + something);
  if (largest == 2 * below_all) {
    exponent = 0;
    return;
  }
  largest >>= 1;
  if (largest == above_all) return;
  if (largest == below_all) largest = -500;  // denormal numbers alone
  largest = min(largest, above_all - 2);
  const double factor = __longlong_as_double(static_cast<long long>(1023 - largest) << 52);
  exponent += largest;
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int p = 0; p < P; ++p) {
      columns.v[s][p][0] *= factor;
      columns.v[s][p][1] *= factor;
    }
  }
}

}  // namespace structmat::gpu::recurrence
