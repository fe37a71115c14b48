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

/// Where a lane reads: its share of the generators of some rows of a triangle, and its columns.
template <class T>
struct WideCursor {
  static constexpr int rows_between = 32 / wide_states;  // from one number of the share to the next

  const T *a, *in, *out, *x, *diagonal, *y;
  index_t a_step, in_step, out_step, x_step, diagonal_step, y_step;  // from row to row
  bool state_real, column_real, inclusive, conjugate;

  /// `first`: the sweep adds to the diagonal's part, else to what y holds.
  __device__ WideCursor(const Triangles<T>& m, int side, index_t b, index_t first_state,
                        index_t column, index_t t, bool first) {
    const Triangle<T>& g = m.part[side];
    const index_t lane = threadIdx.x % 32, state = first_state + lane % wide_states;
    const index_t own = t + lane / wide_states, row = m.row(side, t);
    const index_t sign = g.upward ? -1 : 1;
    const auto at = [&](const auto& v) {
      return v.data + b * v.stride[0] + own * v.stride[1] + state * v.stride[2];
    };
    a = at(g.transition), in = at(g.in), out = at(g.out);
    a_step = g.transition.stride[1], in_step = g.in.stride[1], out_step = g.out.stride[1];
    x = m.x.data + b * m.x.stride[0] + row * m.x.stride[1] + column * m.x.stride[2];
    y = first ? nullptr
              : m.y.data + b * m.y.stride[0] + row * m.y.stride[1] + column * m.y.stride[2];
    diagonal = first && m.diagonal.data != nullptr
                   ? m.diagonal.data + b * m.diagonal.stride[0] + row * m.diagonal.stride[1]
                   : nullptr;
    x_step = sign * m.x.stride[1], y_step = sign * m.y.stride[1];
    diagonal_step = sign * m.diagonal.stride[1];
    state_real = state < g.states, column_real = column < m.columns;
    inclusive = g.inclusive, conjugate = m.conjugate;
  }

  __device__ void next(int rows) {
    a += rows * a_step, in += rows * in_step, out += rows * out_step, x += rows * x_step;
    if (y != nullptr) y += rows * y_step;
    if (diagonal != nullptr) diagonal += rows * diagonal_step;
  }
};

/// What a lane has loaded of the next rows: a share of their generators, and its own columns of x and,
/// in phase 3, of what the sweep adds to.
template <class T>
struct WideLoads {
  static constexpr int Rows = wide_rows<T>;
  static constexpr int share = Rows * wide_states / 32;
  T a[share], in[share], out[share], x[Rows], base[Rows];

  /// Moves the cursor behind them.
  template <bool WithOut>
  __device__ void load(WideCursor<T>& at, index_t t, index_t end) {
    const int inside = static_cast<int>(max(index_t{0}, min(index_t{Rows}, end - t)));
#pragma unroll
    for (int v = 0; v < share; ++v) {
      const int skip = v * WideCursor<T>::rows_between;
      const int u = static_cast<int>(threadIdx.x) % 32 / wide_states + skip;
      const bool wanted = u < inside && at.state_real, front = t + u == 0;
      a[v] = wanted && !front ? at.a[skip * at.a_step] : T(0);
      in[v] = wanted ? at.in[skip * at.in_step] : T(0);
      if constexpr (WithOut) {
        out[v] = wanted && (!front || at.inclusive) ? at.out[skip * at.out_step] : T(0);
      }
    }
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      const bool wanted = u < inside && at.column_real;
      x[u] = wanted ? conjugate_if(at.conjugate, at.x[u * at.x_step]) : T(0);
      if constexpr (WithOut) {
        base[u] = T(0);
        if (wanted && at.y != nullptr) {
          base[u] = conjugate_if(at.conjugate, at.y[u * at.y_step]);
        } else if (wanted && at.diagonal != nullptr) {
          base[u] = at.diagonal[u * at.diagonal_step];
        }
      }
    }
    at.next(Rows);
  }

  /// What the sweep adds to, once the loads have arrived.
  __device__ T added_to(const WideCursor<T>& at, int u) const {
    return at.diagonal != nullptr ? base[u] * x[u] : base[u];
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
  WideCursor<T> cursor(m, side, b, first_state, column, begin, first);
  WideLoads<T> next;
  next.template load<WithOut>(cursor, begin, end);
  for (index_t t = begin; t < end; t += Rows) {
    __syncwarp();
    next.template store<WithOut>(rows);
    T x[Rows], base[Rows];
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      x[u] = next.x[u];
      if constexpr (WithOut) base[u] = next.added_to(cursor, u);
    }
    __syncwarp();
    next.template load<WithOut>(cursor, t + Rows, end);
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
