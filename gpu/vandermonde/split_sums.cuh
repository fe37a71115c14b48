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

/// The numbers of two neighbouring poles, as an operand of tensor cores has them.
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

/// A block's tile of sums conj(a_p(row)) b_p(column) over poles p, or of their real parts (Out real).
/// Eight warps, 2 x 4, each with `row_fragments` x 4 fragments of 16 x 8 sums.
template <class Out>
class SplitSums {
 public:
  static constexpr int parts = is_complex<Out> ? 2 : 1;
  static constexpr int row_fragments = 4 / parts, column_fragments = 4;
  static constexpr int threads = 256, warp_rows = 2;
  static constexpr int rows = warp_rows * 16 * row_fragments;
  static constexpr int columns = threads / 32 / warp_rows * 8 * column_fragments;
  /// Of poles, in a step.
  static constexpr int pairs = pole_step / 2;

  /// Numbers of poles 8 step + 2 pair and the next one, times 2^13; up to 7 in size before that. Threads with
  /// neighbouring pairs, then columns, meet no bank twice.
  struct Right {
    static constexpr int exponent = 13;
    PolePair at[pole_steps][columns][pairs];
  };

  class Left {
   public:
    /// Rows stand in pairs too, 8 apart.
    static constexpr int row_pairs = rows / 2;
    static __device__ int row(int row_pair) { return row_pair / 8 * 16 + row_pair % 8; }

    /// Two poles of two rows. Eight neighbouring lanes make those of a chunk, for one pair of rows, together.
    class Entry {
     public:
      Entry() = default;
      __device__ Entry(const Complex<float> (&first)[2], const Complex<float> (&second)[2]) {
        const float up[2] = {scaling(first, scale_.x), scaling(second, scale_.y)};
        const PolePair top(up[0] * first[0], up[0] * first[1]),
            bottom(up[1] * second[0], up[1] * second[1]);
        high_ = {top.high[0], bottom.high[0], top.high[1], bottom.high[1]};
        low_ = {top.low[0], bottom.low[0], top.low[1], bottom.low[1]};
      }

     private:
      friend class Left;
      /// The power of two for a row, whose inverse goes to `scale`.
      static __device__ float scaling(const Complex<float> (&a)[2], float& scale) {
        // NaN is not the larger one.
        float largest =
            fmax(fmax(fabs(a[0].re), fabs(a[0].im)), fmax(fabs(a[1].re), fabs(a[1].im)));
#pragma unroll
        for (int lane = 1; lane < pole_steps * pairs; lane *= 2)
          largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, lane));
        // To [2^14, 2^15), but not from below 2^-96.
        constexpr int bias = 127, target = 14, least = bias - 96;
        const int exponent = max(__float_as_int(largest) >> 23, least);
        scale = __int_as_float((exponent - target - Right::exponent) << 23);
        return __int_as_float((2 * bias + target - exponent) << 23);
      }
      uint4 high_, low_;
      float2 scale_;
    };
    __device__ void put(int step, int row_pair, int pair, const Entry& entry) {
      high_[step][row_pair][pair] = entry.high_;
      low_[step][row_pair][pair] = entry.low_;
      if (step + pair == 0) scale_[row_pair] = entry.scale_;
    }

   private:
    friend class SplitSums;

    // Steps are half a line of banks apart.
    uint4 high_[pole_steps][row_pairs + 1][pairs], low_[pole_steps][row_pairs + 1][pairs];
    float2 scale_[row_pairs];
  };

  /// Adds the products of a chunk of poles.
  __device__ void add(const Left& a, const Right& b) {
#pragma unroll 1
    for (int step = 0; step < pole_steps; ++step) {
      PolePair right[column_fragments];
#pragma unroll
      for (int j = 0; j < column_fragments; ++j) right[j] = b.at[step][operand_column(j)][t()];
#pragma unroll
      for (int i = 0; i < row_fragments; ++i) {
        const int row_pair = warp() % warp_rows * 8 * row_fragments + 8 * i + g();
        uint4 high = a.high_[step][row_pair][t()], low = a.low_[step][row_pair][t()];
        const float2 scale = a.scale_[row_pair];
#pragma unroll
        for (int part = 0; part < parts; ++part) {
          if (part == 1) high = turned(high), low = turned(low);
          float product[column_fragments][4];
          const float zero[4] = {};
#pragma unroll
          for (int j = 0; j < column_fragments; ++j)
            multiply_add(product[j], high, {right[j].low[0], right[j].low[1]}, zero);
#pragma unroll
          for (int j = 0; j < column_fragments; ++j)
            multiply_add(product[j], low, {right[j].high[0], right[j].high[1]}, product[j]);
#pragma unroll
          for (int j = 0; j < column_fragments; ++j)
            multiply_add(product[j], high, {right[j].high[0], right[j].high[1]}, product[j]);
#pragma unroll
          for (int j = 0; j < column_fragments; ++j) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
              float& sum = sum_[part][i][j][v];
              sum = fma(product[j][v], v < 2 ? scale.x : scale.y, sum);
            }
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
          f(warp() % warp_rows * 16 * row_fragments + g() + 16 * i + 8 * half,
            first_column() + 8 * j + 4 * t(), value);
        }
      }
    }
  }

 private:
  static __device__ int t() {
    return static_cast<int>(threadIdx.x % 4);
  }
  static __device__ int g() {
    return static_cast<int>(threadIdx.x % 32 / 4);
  }
  static __device__ int warp() {
    return static_cast<int>(threadIdx.x / 32);
  }
  static __device__ int first_column() {
    return warp() / warp_rows * 8 * column_fragments;
  }
  /// Column g of fragment j: two fragments share 16 columns, so that a lane has the sums of four in a row.
  static __device__ int operand_column(int j) {
    return first_column() + j / 2 * 16 + g() / 2 * 4 + j % 2 * 2 + g() % 2;
  }
  /// (-a.im, a.re): its products with (b.re, b.im) are Im conj(a) b, as those of (a.re, a.im) are the real part.
  static __device__ uint4 turned(const uint4& a) {
    constexpr unsigned sign = 0x8000u;
    const auto turn = [](unsigned pair) { return __funnelshift_l(pair, pair, 16) ^ sign; };
    return {turn(a.x), turn(a.y), turn(a.z), turn(a.w)};
  }

  float sum_[parts][row_fragments][column_fragments][4] = {};
};

}  // namespace structmat::gpu
