/// \file
/// Scalar and diagonal transitions, many right-hand sides: lanes are right-hand sides and carry
/// several states each. The warp brings the generators of a few rows to shared memory together, while
/// it works on the rows before them.
#pragma once

#include "recurrence/combine_kernel.cuh"

namespace structmat::gpu::recurrence {

constexpr int wide_columns = 32;
constexpr int wide_states = 8;
constexpr unsigned wide_threads = 128;

/// Rows that are under way at a time.
template <class T>
inline constexpr int wide_rows = sizeof(T) > 8 ? 4 : 8;

/// A warp's generators in shared memory.
template <class T>
struct WideRows {
  T a[wide_rows<T>][wide_states], in[wide_rows<T>][wide_states], out[wide_rows<T>][wide_states];
};

/// What a lane has loaded of the next rows: a share of their generators, and its own columns of x and,
/// in phase 3, of what the sweep adds to.
template <class T>
struct WideLoads {
  static constexpr int Rows = wide_rows<T>;
  static constexpr int share = Rows * wide_states / 32;
  T a[share], in[share], out[share], x[Rows], base[Rows];

  template <bool WithOut>
  __device__ void load(const Triangles<T>& m, int side, index_t b, index_t first_state,
                       index_t column, index_t t, index_t end, bool first) {
    const Triangle<T>& triangle = m.part[side];
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int v = 0; v < share; ++v) {
      const int e = v * 32 + lane;
      const index_t at = t + e / wide_states, state = first_state + e % wide_states;
      const bool wanted = at < end && state < triangle.states;
      a[v] = wanted && at > 0 ? triangle.transition(b, at, state, 0) : T(0);
      in[v] = wanted ? triangle.in(b, at, state) : T(0);
      if constexpr (WithOut) {
        out[v] = wanted && (at > 0 || triangle.inclusive) ? triangle.out(b, at, state) : T(0);
      }
    }
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      const bool wanted = t + u < end && column < m.columns;
      x[u] = wanted ? m.input(b, m.row(side, t + u), column) : T(0);
      if constexpr (WithOut) {
        base[u] = wanted ? m.base(first, b, m.row(side, t + u), column) : T(0);
      }
    }
  }

  template <bool WithOut>
  __device__ void store(WideRows<T>& rows) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int v = 0; v < share; ++v) {
      const int e = v * 32 + lane;
      rows.a[e / wide_states][e % wide_states] = a[v];
      rows.in[e / wide_states][e % wide_states] = in[v];
      if constexpr (WithOut) rows.out[e / wide_states][e % wide_states] = out[v];
    }
  }
};

/// One chunk of one triangle, one tile of states: calls row(u, t, x, base) for each t with the row's
/// generators in rows.a[u], rows.in[u], rows.out[u].
template <bool WithOut, class T, class Row>
__device__ void walk_wide(const Triangles<T>& m, WideRows<T>& rows, int side, index_t b,
                          index_t first_state, index_t column, index_t begin, index_t end,
                          bool first, const Row& row) {
  constexpr int Rows = wide_rows<T>;
  WideLoads<T> next;
  next.template load<WithOut>(m, side, b, first_state, column, begin, end, first);
  for (index_t t = begin; t < end; t += Rows) {
    __syncwarp();
    next.template store<WithOut>(rows);
    T x[Rows], base[Rows];
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      x[u] = next.x[u];
      if constexpr (WithOut) base[u] = next.base[u];
    }
    __syncwarp();
    next.template load<WithOut>(m, side, b, first_state, column, t + Rows, end, first);
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      if (t + u < end) row(u, t + u, x[u], WithOut ? base[u] : T(0));
    }
  }
}

/// Work of a warp in phase 1: a chunk of one triangle of one matrix, a tile of states, a tile of
/// columns.
template <class T>
__host__ __device__ index_t wide_summary_work(const Summarised<T>& s) {
  return s.m.batch * s.chunks.count() *
         (pieces(s.m.part[0].states, wide_states) + pieces(s.m.part[1].states, wide_states)) *
         pieces(s.m.columns, wide_columns);
}

template <class T>
__global__ void __launch_bounds__(wide_threads)
    summarise_wide(const __grid_constant__ Summarised<T> s) {
  __shared__ WideRows<T> shared[wide_threads / 32];
  const Triangles<T>& m = s.m;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const index_t lower_tiles = pieces(m.part[0].states, wide_states);
  const index_t tiles = lower_tiles + pieces(m.part[1].states, wide_states);
  const index_t column_tiles = pieces(m.columns, wide_columns);
  const index_t work = wide_summary_work(s), step = gridDim.x * index_t{wide_threads / 32};
  for (index_t unit = blockIdx.x * index_t{wide_threads / 32} + warp; unit < work; unit += step) {
    index_t rest = unit / column_tiles;
    const index_t column_tile = unit - rest * column_tiles;
    const index_t column = column_tile * wide_columns + lane;
    const index_t tile = rest % tiles;
    rest /= tiles;
    const index_t chunk = rest % s.chunks.count(), b = rest / s.chunks.count();
    const int side = tile >= lower_tiles;
    const index_t first_state = (side ? tile - lower_tiles : tile) * wide_states;
    // Nothing is behind the last chunk.
    if (chunk == s.chunks.count() - 1) continue;
    WideRows<T>& rows = shared[warp];
    T state[wide_states] = {};
    ScaledProduct<T> product;  // of the lane's own state
    const bool upward = m.part[side].upward;
    walk_wide<false>(m, rows, side, b, first_state, column, s.chunks.begin(upward, chunk),
                     s.chunks.end(upward, chunk), false, [&](int u, index_t, T x, T) {
#pragma unroll
                       for (int v = 0; v < wide_states; ++v) {
                         state[v] = multiply_add(rows.a[u][v], state[v], rows.in[u][v] * x);
                       }
                       if (column_tile == 0) product.multiply(rows.a[u][lane % wide_states]);
                     });
#pragma unroll
    for (int v = 0; v < wide_states; ++v) {
      if (first_state + v >= m.part[side].states || column >= m.columns) continue;
      s.state[s.at(b, chunk, side, first_state + v) * m.columns + column] = state[v];
    }
    if (column_tile == 0 && lane < wide_states && first_state + lane < m.part[side].states) {
      const index_t at = s.at(b, chunk, side, first_state + lane);
      s.mantissa[at] = product.mantissa;
      s.exponent[at] = product.exponent;
    }
  }
}

/// Work of a warp in phase 3: rows of one chunk of one matrix, both triangles one after the other, a
/// tile of columns.
template <class T>
__host__ __device__ index_t wide_apply_work(const Summarised<T>& s) {
  return s.m.batch * s.chunks.count() * pieces(s.m.columns, wide_columns);
}

template <class T>
__global__ void __launch_bounds__(wide_threads)
    apply_wide(const __grid_constant__ Summarised<T> s) {
  __shared__ WideRows<T> shared[wide_threads / 32];
  const Triangles<T>& m = s.m;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const index_t column_tiles = pieces(m.columns, wide_columns);
  const index_t work = wide_apply_work(s), step = gridDim.x * index_t{wide_threads / 32};
  for (index_t unit = blockIdx.x * index_t{wide_threads / 32} + warp; unit < work; unit += step) {
    const index_t rest = unit / column_tiles;
    const index_t column = (unit - rest * column_tiles) * wide_columns + lane;
    const index_t b = rest / s.chunks.count(), range = rest - b * s.chunks.count();
    WideRows<T>& rows = shared[warp];
    bool first = true;
    for (int side = 0; side < 2; ++side) {
      const Triangle<T>& triangle = m.part[side];
      const index_t chunk = s.chunks.turned(triangle.upward, range);
      // The first pass writes the diagonal part even if there is no state.
      for (index_t first_state = 0; first_state < triangle.states || (side == 1 && first);
           first_state += wide_states) {
        T state[wide_states];
#pragma unroll
        for (int v = 0; v < wide_states; ++v) {
          const bool known = chunk > 0 && first_state + v < triangle.states && column < m.columns;
          state[v] =
              known ? s.state[s.at(b, chunk, side, first_state + v) * m.columns + column] : T(0);
        }
        walk_wide<true>(
            m, rows, side, b, first_state, column, s.chunks.begin(triangle.upward, chunk),
            s.chunks.end(triangle.upward, chunk), first, [&](int u, index_t t, T x, T base) {
              T sum = base;
#pragma unroll
              for (int v = 0; v < wide_states; ++v) {
                const T next = multiply_add(rows.a[u][v], state[v], rows.in[u][v] * x);
                // Selected: the state of a slot without data may be NaN (0 * Inf).
                if (first_state + v < triangle.states && (t > 0 || triangle.inclusive)) {
                  sum = multiply_add(rows.out[u][v], triangle.inclusive ? next : state[v], sum);
                }
                state[v] = next;
              }
              if (column < m.columns) m.output(b, m.row(side, t), column, sum);
            });
        first = false;
      }
    }
  }
}

}  // namespace structmat::gpu::recurrence
