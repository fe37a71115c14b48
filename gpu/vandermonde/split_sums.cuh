/// \file
/// Sums over poles of products of two complex tables on tensor cores, with each number in two parts of
/// half precision: (high + low)(high' + low') without low low', which is below 2^-22 of the product. The
/// products of eight poles are summed on tensor cores, which truncate; the sum over poles is rounded.
///
/// Numbers of half precision have 11 bits and a small range. Rows of the left table are scaled by powers of
/// two, for each chunk of poles apart; the numbers of the right one are scaled by their maker. What is below
/// 2^-16 of the largest number of its row (right: of 1) has an error of 2^-39 of that.
#pragma once

#include "core/complex.cuh"
#include "core/tensor.cuh"

namespace structmat::gpu {

inline constexpr int pole_step = 8, pole_chunk = 16, pole_steps = pole_chunk / pole_step;

/// The numbers of two neighbouring poles.
struct alignas(16) PolePair {
  unsigned high[2], low[2];

  PolePair() = default;
  __device__ PolePair(Complex<float> first, Complex<float> second) {
    split(0, first);
    split(1, second);
  }

 private:
  __device__ void split(int pole, Complex<float> a) {
    high[pole] = halves(a.re, a.im);
    const float2 kept = floats(high[pole]);
    low[pole] = halves(a.re - kept.x, a.im - kept.y);
  }
};

/// Numbers of a chunk of poles: those of poles 8 step + 2 pair and the next one stand in
/// at[step][row][pair]. Threads with neighbouring pairs, then rows, meet no bank twice.
template <int Rows>
struct SplitTable {
  static constexpr int pairs = pole_step / 2;
  PolePair at[pole_steps][Rows][pairs];
};

/// A block's tile of sums conj(a_p(row)) b_p(column) over poles p, or of their real parts (Out real).
/// Eight warps, 2 x 4, each with `row_fragments` x 4 fragments of 16 x 8 sums.
template <class Out>
class SplitSums {
 public:
  static constexpr int parts = is_complex<Out> ? 2 : 1;
  static constexpr int row_fragments = 4 / parts, column_fragments = 4;
  static constexpr int threads = 256;
  static constexpr int rows = 2 * 16 * row_fragments, columns = 4 * 8 * column_fragments;

  /// Numbers of the right table, up to 7 in size, are to be put in times 2^13.
  static constexpr int right_exponent = 13;
  struct Left {
    SplitTable<rows> numbers;
    float scale[rows];  ///< what sums of a row are to be multiplied by

    /// A row of all poles, [step][of a pair]. Four neighbouring lanes put a row together.
    __device__ void put(int row, const Complex<float> (&a)[pole_steps][2]) {
      // NaN is not the larger one.
      float largest = 0;
#pragma unroll
      for (int step = 0; step < pole_steps; ++step) {
#pragma unroll
        for (int p = 0; p < 2; ++p) {
          largest = fmax(largest, fmax(fabs(a[step][p].re), fabs(a[step][p].im)));
        }
      }
      largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
      largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
      // To [2^14, 2^15), but not from below 2^-96.
      constexpr int bias = 127, target = 14, least = bias - 96;
      const int exponent = max(__float_as_int(largest) >> 23, least);
      const float up = __int_as_float((2 * bias + target - exponent) << 23);
#pragma unroll
      for (int step = 0; step < pole_steps; ++step)
        numbers.at[step][row][pair()] = PolePair(up * a[step][0], up * a[step][1]);
      if (pair() == 0) scale[row] = __int_as_float((exponent - target - right_exponent) << 23);
    }
  };
  using Right = SplitTable<columns>;

  /// Of this thread where four neighbouring lanes fill a row.
  static __device__ int pair() {
    return static_cast<int>(threadIdx.x) % 4;
  }

  /// Adds the products of a chunk of poles.
  __device__ void add(const Left& a, const Right& b) {
#pragma unroll 1
    for (int step = 0; step < pole_steps; ++step) {
      PolePair right[column_fragments];
#pragma unroll
      for (int j = 0; j < column_fragments; ++j) right[j] = b.at[step][operand_column(j)][t()];
#pragma unroll
      for (int i = 0; i < row_fragments; ++i) {
        const int row = first_row() + 16 * i;
        const PolePair top = a.numbers.at[step][row][t()],
                       bottom = a.numbers.at[step][row + 8][t()];
        const float scale[2] = {a.scale[row], a.scale[row + 8]};
        const unsigned high[4] = {top.high[0], bottom.high[0], top.high[1], bottom.high[1]};
        const unsigned low[4] = {top.low[0], bottom.low[0], top.low[1], bottom.low[1]};
#pragma unroll
        for (int part = 0; part < parts; ++part) {
          float product[column_fragments][4];
          const float zero[4] = {};
#pragma unroll
          for (int j = 0; j < column_fragments; ++j)
            multiply_add(product[j], high, turned(part, right[j].low).bits, zero);
#pragma unroll
          for (int j = 0; j < column_fragments; ++j)
            multiply_add(product[j], low, turned(part, right[j].high).bits, product[j]);
#pragma unroll
          for (int j = 0; j < column_fragments; ++j)
            multiply_add(product[j], high, turned(part, right[j].high).bits, product[j]);
#pragma unroll
          for (int j = 0; j < column_fragments; ++j) {
#pragma unroll
            for (int v = 0; v < 4; ++v)
              sum_[part][i][j][v] = fma(product[j][v], scale[v / 2], sum_[part][i][j][v]);
          }
        }
      }
    }
  }

  /// f(row, column, sums of four columns) for columns that are multiples of four.
  template <class F>
  __device__ void for_each(const F& f) const {
#pragma unroll
    for (int i = 0; i < row_fragments; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int j = 0; j < column_fragments; j += 2) {
          Out value[4];
#pragma unroll
          for (int v = 0; v < 4; ++v) {
            const int fragment = j + v / 2, element = 2 * half + v % 2;
            if constexpr (parts == 1)
              value[v] = sum_[0][i][fragment][element];
            else
              value[v] = {sum_[0][i][fragment][element], sum_[1][i][fragment][element]};
          }
          f(first_row() + 16 * i + 8 * half, first_column() + 8 * j + 4 * t(), value);
        }
      }
    }
  }

 private:
  static __device__ int t() {
    return static_cast<int>(threadIdx.x) % 4;
  }
  static __device__ int g() {
    return static_cast<int>(threadIdx.x) % 32 / 4;
  }
  static __device__ int warp() {
    return static_cast<int>(threadIdx.x) / 32;
  }
  static __device__ int first_row() {
    return warp() % 2 * 16 * row_fragments + g();
  }
  static __device__ int first_column() {
    return warp() / 2 * 8 * column_fragments;
  }
  /// Column g of fragment j: two fragments share 16 columns, so that a lane has the sums of four in a row.
  static __device__ int operand_column(int j) {
    return first_column() + j / 2 * 16 + g() / 2 * 4 + j % 2 * 2 + g() % 2;
  }

  struct Operand {
    unsigned bits[2];
  };
  /// (b.re, b.im) for Re conj(a) b = a.re b.re + a.im b.im; (b.im, -b.re) for Im conj(a) b.
  static __device__ Operand turned(int part, const unsigned (&b)[2]) {
    if (part == 0) return {{b[0], b[1]}};
    constexpr unsigned sign = 0x80000000u;
    return {{__funnelshift_l(b[0], b[0], 16) ^ sign, __funnelshift_l(b[1], b[1], 16) ^ sign}};
  }

  float sum_[parts][row_fragments][column_fragments][4] = {};
};

}  // namespace structmat::gpu
