/// \file
/// Sums over poles of products of two complex tables on tensor cores, with each number in two parts of 11
/// bits: (high + low)(high' + low') without low low', which is below 2^-22 of the product. The product of
/// four poles is summed on tensor cores, which truncate; the sum over poles is rounded.
#pragma once

#include "core/complex.cuh"
#include "core/tensor.cuh"

namespace structmat::gpu {

/// A block's tile of sums conj(a_p(row)) b_p(column) over poles p, or of their real parts (Out real).
/// Eight warps, 2 x 4, each with `row_fragments` x 4 fragments of 16 x 8 sums.
template <class Out>
class SplitSums {
 public:
  static constexpr int parts = is_complex<Out> ? 2 : 1;
  static constexpr int row_fragments = 4 / parts, column_fragments = 4;
  static constexpr int threads = 256;
  static constexpr int rows = 2 * 16 * row_fragments, columns = 4 * 8 * column_fragments;
  /// Poles at a time, and the distance of their tables: four poles of four neighbours then lie in
  /// different banks.
  static constexpr int chunk = 16, stride = 128 + 4;
  using Table = Complex<float>[chunk][stride];

  /// Adds the products of a chunk of poles.
  __device__ void add(const Table& a, const Table& b) {
#pragma unroll 1
    for (int first = 0; first < chunk; first += 4) {
      const Complex<float>* const row = &a[first + t()][first_row()];
      const Complex<float>* const column = &b[first + t()][first_column()];
      Split right[column_fragments][2];
#pragma unroll
      for (int j = 0; j < column_fragments; ++j) {
        const Complex<float> v = column[8 * j];
        right[j][0] = split(v.re);
        right[j][1] = split(v.im);
      }
#pragma unroll
      for (int i = 0; i < row_fragments; ++i) {
        const Complex<float> top = row[16 * i], bottom = row[16 * i + 8];
        const Split left[4] = {split(top.re), split(bottom.re), split(top.im), split(bottom.im)};
        const unsigned high[4] = {left[0].high, left[1].high, left[2].high, left[3].high};
        const unsigned low[4] = {left[0].low, left[1].low, left[2].low, left[3].low};
#pragma unroll
        for (int part = 0; part < parts; ++part) {
#pragma unroll
          for (int j = 0; j < column_fragments; ++j) {
            // Re conj(a) b = a.re b.re + a.im b.im, Im conj(a) b = a.re b.im - a.im b.re.
            constexpr unsigned sign = 0x80000000u;
            const unsigned b_high[2] = {right[j][part].high,
                                        right[j][1 - part].high ^ (part == 1 ? sign : 0)};
            const unsigned b_low[2] = {right[j][part].low,
                                       right[j][1 - part].low ^ (part == 1 ? sign : 0)};
            float product[4] = {};
            add_product(product, high, b_low);
            add_product(product, low, b_high);
            add_product(product, high, b_high);
#pragma unroll
            for (int v = 0; v < 4; ++v) sum_[part][i][j][v] += product[v];
          }
        }
      }
    }
  }

  /// f(row, column, sum, sum of the next column), for even columns.
  template <class F>
  __device__ void for_each(const F& f) const {
#pragma unroll
    for (int i = 0; i < row_fragments; ++i) {
#pragma unroll
      for (int j = 0; j < column_fragments; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const auto value = [&](int v) -> Out {
            if constexpr (parts == 1)
              return sum_[0][i][j][v];
            else
              return {sum_[0][i][j][v], sum_[1][i][j][v]};
          };
          f(first_row() + 16 * i + 8 * half, first_column() - g() + 8 * j + 2 * t(),
            value(2 * half), value(2 * half + 1));
        }
      }
    }
  }

 private:
  static __device__ int t() {
    return static_cast<int>(threadIdx.x) % 4;
  }
  static __device__ int warp() {
    return static_cast<int>(threadIdx.x) / 32;
  }
  static __device__ int g() {
    return static_cast<int>(threadIdx.x) % 32 / 4;
  }
  /// Of this lane's operands.
  static __device__ int first_row() {
    return warp() % 2 * 16 * row_fragments + g();
  }
  static __device__ int first_column() {
    return warp() / 2 * 8 * column_fragments + g();
  }

  float sum_[parts][row_fragments][column_fragments][4] = {};
};

}  // namespace structmat::gpu
