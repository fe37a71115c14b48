/// \file
/// Dense transitions of order up to 8 R: the cotangents of a row's generators, sums over eight right-hand
/// sides on tensor cores, and where a lane adds them.
#pragma once

#include "recurrence/apply_vjp.cuh"
#include "recurrence/dense_rows.cuh"

namespace structmat::gpu::recurrence {

/// Columns as operands of a product over H groups of four right-hand sides: state 8 s + lane / 4 of the
/// right-hand sides 4 h + lane % 4; zero for those that do not exist, whatever their columns hold.
template <int P, int R, int H>
struct Operand {
  double v[R][P][H];  // s, part, h
};

template <int H, int P, int R>
__device__ Operand<P, R, H> operand(const Columns<P, R>& columns, int count) {
  constexpr unsigned all = 0xffffffffu;
  Operand<P, R, H> result;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int h = 0; h < H; ++h) {
    const int column = 4 * h + lane % 4, source = 4 * column + lane / 8;
#pragma unroll
    for (int s = 0; s < R; ++s) {
#pragma unroll
      for (int p = 0; p < P; ++p) {
        const double even = shuffle(all, columns.v[s][p][0], source);
        const double odd = shuffle(all, columns.v[s][p][1], source);
        const double value = lane / 4 % 2 == 0 ? even : odd;
        result.v[s][p][h] = column < count ? value : 0;
      }
    }
  }
  return result;
}

/// The transpose of a transition of which the lane has rows 8 i + lane / 4 and columns
/// 8 k + 2 (lane % 4) + {0, 1}, as a matrix of the same kind; zero unless `wanted`.
template <class T, int R>
__device__ Matrix<parts<T>, R> transposed(const T (&a)[R][R][2], bool wanted) {
  constexpr unsigned all = 0xffffffffu;
  Matrix<parts<T>, R> matrix;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int source = 4 * (2 * (lane % 4) + j) + lane / 8;
#pragma unroll
    for (int i = 0; i < R; ++i) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const T even = shuffle(all, a[k][i][0], source), odd = shuffle(all, a[k][i][1], source);
        const T value = !wanted ? T(0) : lane / 4 % 2 == 0 ? even : odd;
#pragma unroll
        for (int p = 0; p < parts<T>; ++p) matrix.v[i][k][p][j] = part_of(value, p);
      }
    }
  }
  return matrix;
}

/// d += a b^T over right-hand sides, of one tile each.
template <int P, int H>
__device__ void multiply_columns(double (&d)[P][2], const double (&a)[P][H],
                                 const double (&b)[P][H]) {
#pragma unroll
  for (int h = 0; h < H; ++h) {
    multiply_add_8x8x4(d[0], a[0][h], b[0][h]);
    if constexpr (P == 2) {
      multiply_add_8x8x4(d[1], a[0][h], b[1][h]);
      multiply_add_8x8x4(d[0], -a[1][h], b[1][h]);
      multiply_add_8x8x4(d[1], a[1][h], b[0][h]);
    }
  }
}

/// The conjugates of a row's cotangents: mu s^T, mu x and s y. A lane holds of the first rows
/// 8 i + lane / 4 and columns 8 k + 2 (lane % 4) + {0, 1}; of the others, where lane % 4 is 0, state
/// 8 i + lane / 4.
template <int P, int R, int H>
struct DenseSums {
  double a[R][R][P][2] = {}, in[R][P][2] = {}, out[R][P][2] = {};

  /// in_front, emitted: the state in front of the row, and the one that y sees; x, y: those of
  /// right-hand side lane / 4.
  template <class T>
  __device__ DenseSums(const Operand<P, R, H>& mu, const Operand<P, R, H>& in_front,
                       const Operand<P, R, H>& emitted, T x, T y) {
    double of_x[P][H], of_y[P][H];
    spread(x, of_x);
    spread(y, of_y);
#pragma unroll
    for (int i = 0; i < R; ++i) {
#pragma unroll
      for (int k = 0; k < R; ++k) multiply_columns<P, H>(a[i][k], mu.v[i], in_front.v[k]);
      multiply_columns<P, H>(in[i], mu.v[i], of_x);
      multiply_columns<P, H>(out[i], emitted.v[i], of_y);
    }
  }

 private:
  /// The first of eight columns of the right operand; the others are zero.
  template <class T>
  __device__ static void spread(T x, double (&to)[P][H]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int h = 0; h < H; ++h) {
      const T value = shuffle(0xffffffffu, x, 4 * (4 * h + lane % 4));
#pragma unroll
      for (int p = 0; p < P; ++p) to[p][h] = lane < 4 ? part_of(value, p) : 0;
    }
  }
};

/// What a row has: nothing comes from behind the last one of a triangle without diagonal, and nothing
/// stands in front of the first one.
struct RowUse {
  bool fed, emits, transits;

  __device__ RowUse(index_t n, index_t t, bool inclusive, bool there)
      : fed(there && (inclusive || t + 1 < n)),
        emits(there && (inclusive || t > 0)),
        transits(fed && t > 0) {}
};

/// Where a lane adds: its numbers of a row of a triangle, row t at first.
template <class T, int R>
class DenseTargets {
 public:
  struct Row {
    T a[R][R][2], in[R], out[R];
  };

  __device__ DenseTargets(const TriangleCotangent<T>& bar, index_t states, index_t b, index_t t)
      : a_step_(bar.transition.stride[1]),
        in_step_(bar.in.stride[1]),
        out_step_(bar.out.stride[1]),
        a_tile_{8 * bar.transition.stride[2], 8 * bar.transition.stride[3]},
        a_pair_(bar.transition.stride[3]),
        in_tile_(8 * bar.in.stride[2]),
        out_tile_(8 * bar.out.stride[2]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, first = 2 * (lane % 4);
    a_ = bar.transition.data + b * bar.transition.stride[0] + t * a_step_ +
         row * bar.transition.stride[2] + first * bar.transition.stride[3];
    in_ = bar.in.data + b * bar.in.stride[0] + t * in_step_ + row * bar.in.stride[2];
    out_ = bar.out.data + b * bar.out.stride[0] + t * out_step_ + row * bar.out.stride[2];
#pragma unroll
    for (int i = 0; i < R; ++i) {
      row_real_[i] = bar.transition.data != nullptr && 8 * i + row < states;
      in_real_[i] = bar.in.data != nullptr && lane % 4 == 0 && 8 * i + row < states;
      out_real_[i] = bar.out.data != nullptr && lane % 4 == 0 && 8 * i + row < states;
#pragma unroll
      for (int j = 0; j < 2; ++j) column_real_[i][j] = 8 * i + first + j < states;
    }
  }

  __device__ void move(index_t rows) {
    a_ += rows * a_step_, in_ += rows * in_step_, out_ += rows * out_step_;
  }

  /// What stands there.
  template <bool Paired>
  __device__ void load(Row& row, RowUse use) const {
#pragma unroll
    for (int i = 0; i < R; ++i) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const T* const at = a_ + i * a_tile_[0] + k * a_tile_[1];
        const bool wanted = use.transits && row_real_[i];
        if constexpr (Paired) {
          Two<T> both{T(0), T(0)};
          if (wanted && column_real_[k][0]) both = *reinterpret_cast<const Two<T>*>(at);
          row.a[i][k][0] = both.v[0];
          row.a[i][k][1] = both.v[1];
        } else {
          row.a[i][k][0] = wanted && column_real_[k][0] ? *at : T(0);
          row.a[i][k][1] = wanted && column_real_[k][1] ? at[a_pair_] : T(0);
        }
      }
      row.in[i] = use.fed && in_real_[i] ? in_[i * in_tile_] : T(0);
      row.out[i] = use.emits && out_real_[i] ? out_[i * out_tile_] : T(0);
    }
  }

  /// `row` plus the sums' conjugates.
  template <bool Paired, int H>
  __device__ void add(const Row& row, RowUse use, const DenseSums<parts<T>, R, H>& sums) const {
#pragma unroll
    for (int i = 0; i < R; ++i) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
        T* const at = a_ + i * a_tile_[0] + k * a_tile_[1];
        const bool wanted = use.transits && row_real_[i];
        const T first = row.a[i][k][0] + conjugated(sums.a[i][k], 0);
        const T second = row.a[i][k][1] + conjugated(sums.a[i][k], 1);
        if constexpr (Paired) {
          if (wanted && column_real_[k][0]) *reinterpret_cast<Two<T>*>(at) = {first, second};
        } else {
          if (wanted && column_real_[k][0]) *at = first;
          if (wanted && column_real_[k][1]) at[a_pair_] = second;
        }
      }
      if (use.fed && in_real_[i]) {
        in_[i * in_tile_] = row.in[i] + conjugated(sums.in[i], 0);
      }
      if (use.emits && out_real_[i]) {
        out_[i * out_tile_] = row.out[i] + conjugated(sums.out[i], 0);
      }
    }
  }

 private:
  __device__ static T conjugated(const double (&value)[parts<T>][2], int j) {
    using Real = real_of_t<T>;
    if constexpr (is_complex<T>) {
      return {static_cast<Real>(value[0][j]), static_cast<Real>(-value[1][j])};
    } else {
      return static_cast<T>(value[0][j]);
    }
  }

  T *a_, *in_, *out_;
  index_t a_step_, in_step_, out_step_, a_tile_[2], a_pair_, in_tile_, out_tile_;
  bool row_real_[R], column_real_[R][2], in_real_[R], out_real_[R];
};

}  // namespace structmat::gpu::recurrence
