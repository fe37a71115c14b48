/// \file
/// Dense transitions of order up to 8 R: a warp carries eight columns of states through a chunk, on
/// tensor cores. What its lanes read, and the states in front of a chunk.
#pragma once

#include <cstdint>

#include "recurrence/dense_summary.cuh"

namespace structmat::gpu::recurrence {

template <class T, int R>
struct DenseProblem {
  Triangles<T> m;
  Chunks chunks;
  bool paired[2];  ///< two neighbouring columns of a transition may be read at once
  DenseSummaries<parts<T>, R> prefix;  ///< (batch, triangle, chunk): what is in front in its group
  DenseSummaries<parts<T>, R> group;   ///< (batch, triangle, group)

  /// Triangles that have states, and the one with a number among them.
  __host__ __device__ int sides() const { return (m.part[0].states > 0) + (m.part[1].states > 0); }
  __device__ int side_of(int number) const { return m.part[0].states > 0 ? number : 1; }
  __device__ int number_of(int side) const { return m.part[0].states > 0 ? side : 0; }
  __host__ __device__ index_t groups() const { return pieces(chunks.count(), group_chunks); }
  __host__ __device__ index_t column_tiles() const { return pieces(m.columns, 8); }
  __device__ index_t prefix_at(index_t b, int side, index_t chunk) const {
    return (b * sides() + number_of(side)) * chunks.count() + chunk;
  }
  __device__ index_t group_at(index_t b, int side, index_t g) const {
    return (b * sides() + number_of(side)) * groups() + g;
  }
};

constexpr int dense_warps = group_chunks;
constexpr unsigned dense_threads = 32 * dense_warps;

template <class T>
struct alignas(2 * sizeof(T)) Two {
  T v[2];
};

/// Two neighbours of a row may be accessed at once: they are neighbours in memory, aligned as a pair, and
/// rows consist of pairs.
template <class T>
bool is_paired(const Strided<T, 4>& a, index_t states) {
  return a.stride[3] == 1 && states % 2 == 0 && a.stride[0] % 2 == 0 && a.stride[1] % 2 == 0 &&
         a.stride[2] % 2 == 0 && reinterpret_cast<std::uintptr_t>(a.data) % sizeof(Two<T>) == 0;
}

/// Where a lane reads: its numbers of row t of a triangle, and its column of x.
template <class T, int R>
struct DenseCursor {
  const T *a, *in, *out, *x;
  index_t a_step, in_step, out_step, x_step;  // from row to row
  index_t a_tile[2], in_tile, out_tile;       // from tile to tile
  index_t a_pair, in_pair, out_pair;          // from the first to the second of a lane's states
  bool row_real[R], state_real[R][2], column_real, inclusive;

  __device__ DenseCursor(const Triangles<T>& m, int side, index_t b, index_t column, index_t t) {
    const Triangle<T>& g = m.part[side];
    const index_t lane = threadIdx.x % 32, row = lane / 4, first = 2 * (lane % 4);
    column_real = column < m.columns;
    inclusive = g.inclusive;
    a = g.transition.data + b * g.transition.stride[0] + t * g.transition.stride[1] +
        row * g.transition.stride[2] + first * g.transition.stride[3];
    in = g.in.data + b * g.in.stride[0] + t * g.in.stride[1] + first * g.in.stride[2];
    out = g.out.data + b * g.out.stride[0] + t * g.out.stride[1] + first * g.out.stride[2];
    x = m.x.data + b * m.x.stride[0] + m.row(side, t) * m.x.stride[1] + column * m.x.stride[2];
    a_step = g.transition.stride[1], in_step = g.in.stride[1], out_step = g.out.stride[1];
    x_step = g.upward ? -m.x.stride[1] : m.x.stride[1];
    a_tile[0] = 8 * g.transition.stride[2], a_tile[1] = 8 * g.transition.stride[3];
    in_tile = 8 * g.in.stride[2], out_tile = 8 * g.out.stride[2];
    a_pair = g.transition.stride[3], in_pair = g.in.stride[2], out_pair = g.out.stride[2];
#pragma unroll
    for (int i = 0; i < R; ++i) {
      row_real[i] = 8 * i + row < g.states;
#pragma unroll
      for (int j = 0; j < 2; ++j) state_real[i][j] = 8 * i + first + j < g.states;
    }
  }

  __device__ void move(index_t rows) {
    a += rows * a_step, in += rows * in_step, out += rows * out_step, x += rows * x_step;
  }
};

/// v x, in double, with v the numbers of a lane's states.
template <class T, int R>
__device__ Columns<parts<T>, R> times(const T (&v)[R][2], T x) {
  Columns<parts<T>, R> result;
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const double re = part_of(v[s][i], 0), x_re = part_of(x, 0);
      if constexpr (parts<T> == 1) {
        result.v[s][0][i] = re * x_re;
      } else {
        const double im = part_of(v[s][i], 1), x_im = part_of(x, 1);
        result.v[s][0][i] = re * x_re - im * x_im;
        result.v[s][1][i] = re * x_im + im * x_re;
      }
    }
  }
  return result;
}

/// v^T states over the lane's states, in double.
template <class T, int R>
__device__ void inner_product(const T (&v)[R][2], const Columns<parts<T>, R>& states,
                              double (&sum)[parts<T>]) {
#pragma unroll
  for (int p = 0; p < parts<T>; ++p) sum[p] = 0;
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const double re = part_of(v[s][i], 0);
      if constexpr (parts<T> == 1) {
        sum[0] = fma(re, states.v[s][0][i], sum[0]);
      } else {
        const double im = part_of(v[s][i], 1);
        sum[0] += re * states.v[s][0][i] - im * states.v[s][1][i];
        sum[1] += re * states.v[s][1][i] + im * states.v[s][0][i];
      }
    }
  }
}

/// What a lane reads of Rows consecutive t. Zero, unread, stands for what lies behind `end`, for states
/// beyond the order, for transition 0 and for out 0 where the diagonal is not included.
template <class T, int R, int Rows>
struct DenseRows {
  T a[Rows][R][R][2], in[Rows][R][2], out[Rows][R][2], x[Rows];

  /// Moves the cursor to the row behind them. No branch may stand between loads, or they wait for each
  /// other. Paired: both columns of a transition that a lane holds are read at once.
  template <bool WithOut, bool Paired>
  __device__ void load(DenseCursor<T, R>& at, index_t t, index_t end, bool conjugate) {
    const int inside = static_cast<int>(min(index_t{Rows}, end - t));
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      const bool there = u < inside, first = t + u == 0;
#pragma unroll
      for (int i = 0; i < R; ++i) {
#pragma unroll
        for (int k = 0; k < R; ++k) {
          const T* const from = at.a + i * at.a_tile[0] + k * at.a_tile[1];
          const bool wanted = there && !first && at.row_real[i];
          if constexpr (Paired) {
            Two<T> both{T(0), T(0)};
            if (wanted && at.state_real[k][0]) both = *reinterpret_cast<const Two<T>*>(from);
            a[u][i][k][0] = both.v[0];
            a[u][i][k][1] = both.v[1];
          } else {
            a[u][i][k][0] = wanted && at.state_real[k][0] ? *from : T(0);
            a[u][i][k][1] = wanted && at.state_real[k][1] ? from[at.a_pair] : T(0);
          }
        }
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const bool wanted = there && at.state_real[i][j];
          in[u][i][j] = wanted ? at.in[i * at.in_tile + j * at.in_pair] : T(0);
          if constexpr (WithOut) {
            out[u][i][j] = wanted && (!first || at.inclusive)
                               ? at.out[i * at.out_tile + j * at.out_pair]
                               : T(0);
          }
        }
      }
      x[u] = there && at.column_real ? *at.x : T(0);
      at.move(1);
    }
#pragma unroll
    for (int u = 0; u < Rows; ++u) x[u] = conjugate_if(conjugate, x[u]);
  }

  __device__ Matrix<parts<T>, R> transition(int u) const {
    Matrix<parts<T>, R> matrix;
#pragma unroll
    for (int i = 0; i < R; ++i) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
#pragma unroll
        for (int p = 0; p < parts<T>; ++p) {
#pragma unroll
          for (int j = 0; j < 2; ++j) matrix.v[i][k][p][j] = part_of(a[u][i][k][j], p);
        }
      }
    }
    return matrix;
  }

  /// in x, in double.
  __device__ Columns<parts<T>, R> entering(int u) const {
    return times(in[u], x[u]);
  }

  /// out^T states over the lane's states, in double.
  __device__ void emitted(int u, const Columns<parts<T>, R>& states,
                          double (&sum)[parts<T>]) const {
    inner_product(out[u], states, sum);
  }
};

/// Rows under way: as many as registers hold.
constexpr int dense_rows = 4;

/// Blocks of a kernel that a multiprocessor is to hold: the smallest types leave registers for two.
template <class T, int R>
inline constexpr int dense_residents = R == 1 && sizeof(T) <= 8 ? 2 : 1;

/// The states in front of a chunk, once phases 1 and 2 are done.
template <class T, int R>
__device__ Columns<parts<T>, R> state_in_front(const DenseProblem<T, R>& problem, int side,
                                               index_t b, index_t chunk, index_t column) {
  constexpr int P = parts<T>;
  Columns<P, R> state;
  const index_t group = chunk / group_chunks;
  if (group > 0) {
    state = load_column<P, R>(problem.group.state_of(problem.group_at(b, side, group), column));
  }
  if (chunk % group_chunks > 0) {
    const index_t at = problem.prefix_at(b, side, chunk);
    const auto step =
        ChunkStep<P, R>::load(problem.prefix.product_of(at), problem.prefix.exponent_of(at));
    state = step.times(state, load_column<P, R>(problem.prefix.state_of(at, column)));
  }
  return state;
}

/// Four sums over the four lanes of a column: lane q gets the q-th.
__device__ inline double scattered_sum(double row0, double row1, double row2, double row3) {
  const int q = static_cast<int>(threadIdx.x) % 4;
  const bool high = q & 2, odd = q & 1;
  const double even_sum = (high ? row2 : row0) + shuffle_xor(0xffffffffu, high ? row0 : row2, 2);
  const double odd_sum = (high ? row3 : row1) + shuffle_xor(0xffffffffu, high ? row1 : row3, 2);
  return (odd ? odd_sum : even_sum) + shuffle_xor(0xffffffffu, odd ? even_sum : odd_sum, 1);
}

/// The same for each part of T.
template <class T>
__device__ T scattered_sum(const double (&sums)[parts<T>][dense_rows]) {
  using Real = real_of_t<T>;
  const double re = scattered_sum(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
  if constexpr (is_complex<T>) {
    const double im = scattered_sum(sums[1][0], sums[1][1], sums[1][2], sums[1][3]);
    return {static_cast<Real>(re), static_cast<Real>(im)};
  } else {
    return static_cast<T>(re);
  }
}

}  // namespace structmat::gpu::recurrence
