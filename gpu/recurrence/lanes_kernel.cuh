/// \file
/// Scalar and diagonal transitions: states do not mix, so each lane carries states of its own. Phases
/// 1 and 3 for few right-hand sides; wide_kernel.cuh is for many, combine_kernel.cuh is phase 2.
#pragma once

#include "recurrence/combine_kernel.cuh"

namespace structmat::gpu::recurrence {

/// How a group of threads within a warp shares a chunk: `States` lanes for the states of each of
/// `Columns` right-hand sides, one state a lane. Phase 3 loads `Rows` rows at once; phase 1, which has
/// twice the threads, loads `SummaryRows`.
template <int States_, int Columns_, int SummaryRows_, int Rows_>
struct Layout {
  static constexpr int States = States_, Columns = Columns_;
  static constexpr int SummaryRows = SummaryRows_, Rows = Rows_;
  static constexpr int group = States * Columns;
  static_assert(group <= 32 && (group & (group - 1)) == 0);
};

constexpr unsigned lanes_threads = 128;

/// From so many right-hand sides on, lanes are right-hand sides, which share each generator and need no
/// exchange (wide_kernel.cuh).
constexpr index_t least_wide_columns = 8;

/// visit(layout) for this many states and right-hand sides. One right-hand side: lanes over states, as
/// few as hold them. A few: both.
template <class T, class Visit>
void with_lanes(const Triangles<T>& m, const Visit& visit) {
  constexpr int rows = is_complex<T> ? 4 : 8;
  const index_t states = m.part[0].states > m.part[1].states ? m.part[0].states : m.part[1].states;
  if (m.columns > 1) return visit(Layout<8, 4, 4, rows>());
  if (states <= 4) return visit(Layout<4, 1, 4, rows>());
  if (states <= 8) return visit(Layout<8, 1, 4, rows>());
  visit(Layout<16, 1, 4, rows>());
}

template <class L>
struct Lanes {
  __device__ static int state() { return static_cast<int>(threadIdx.x) % L::States; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) % L::group / L::States; }
  /// The group's threads take the same path; other groups of the warp may have left the loop
  /// already.
  __device__ static unsigned mask() {
    if constexpr (L::group == 32) return 0xffffffffu;
    return ((1u << (L::group % 32)) - 1) << (threadIdx.x % 32 / L::group * L::group);
  }
  template <class T>
  __device__ static T sum(T value) {
#pragma unroll
    for (int offset = L::States / 2; offset > 0; offset /= 2) {
      value += shuffle_xor(mask(), value, offset);
    }
    return value;
  }
  __device__ static index_t first_group() {
    return (static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x) / L::group;
  }
  __device__ static index_t groups() {
    return static_cast<index_t>(gridDim.x) * blockDim.x / L::group;
  }
};

/// What a lane reads of Rows consecutive t: all loads are issued before the first use, since the
/// recurrence itself is a chain. Zero, unread, stands for what lies behind `end`, for transition 0 and
/// for out 0 where the diagonal is not included.
template <class T, int Rows>
struct LaneRows {
  T x[Rows], a[Rows], in[Rows], out[Rows];

  template <bool WithOut>
  __device__ void load(const Triangles<T>& m, int side, index_t b, index_t state, index_t column,
                       index_t t, index_t end) {
    const Triangle<T>& triangle = m.part[side];
    const bool real = state < triangle.states;
    const T* a_at = &triangle.transition(b, t, state, 0);
    const T* in_at = &triangle.in(b, t, state);
    const T* out_at = &triangle.out(b, t, state);
    const T* x_at = &m.x(b, m.row(side, t), column);
    const index_t x_step = triangle.upward ? -m.x.stride[1] : m.x.stride[1];
    const int inside = static_cast<int>(end - t < Rows ? end - t : Rows);
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      const bool wanted = u < inside && real, front = t == 0 && u == 0;
      x[u] = u < inside ? *x_at : T(0);
      a[u] = wanted && !front ? *a_at : T(0);
      in[u] = wanted ? *in_at : T(0);
      if constexpr (WithOut) out[u] = wanted && (!front || triangle.inclusive) ? *out_at : T(0);
      x_at += x_step;
      a_at += triangle.transition.stride[1];
      in_at += triangle.in.stride[1];
      out_at += triangle.out.stride[1];
    }
#pragma unroll
    for (int u = 0; u < Rows; ++u) x[u] = conjugate_if(m.conjugate, x[u]);
  }
};

/// Work of a group in phase 1: a chunk of one triangle of one matrix, a tile of states, a tile of
/// columns.
template <class L, class T>
__host__ __device__ index_t lanes_summary_work(const Summarised<T>& s) {
  return s.m.batch * s.chunks.count() *
         (pieces(s.m.part[0].states, L::States) + pieces(s.m.part[1].states, L::States)) *
         pieces(s.m.columns, L::Columns);
}

template <class L, class T>
__global__ void __launch_bounds__(lanes_threads, is_complex<T> ? 4 : 8)
    summarise_lanes(const __grid_constant__ Summarised<T> s) {
  const Triangles<T>& m = s.m;
  const index_t lower_tiles = pieces(m.part[0].states, L::States);
  const index_t tiles = lower_tiles + pieces(m.part[1].states, L::States);
  const index_t column_tiles = pieces(m.columns, L::Columns);
  const index_t work = lanes_summary_work<L>(s);
  for (index_t unit = Lanes<L>::first_group(); unit < work; unit += Lanes<L>::groups()) {
    index_t rest = unit / column_tiles;
    const index_t column = (unit - rest * column_tiles) * L::Columns + Lanes<L>::column();
    const index_t tile = rest % tiles;
    rest /= tiles;
    const index_t chunk = rest % s.chunks.count(), b = rest / s.chunks.count();
    const int side = tile >= lower_tiles;
    const index_t state = (side ? tile - lower_tiles : tile) * L::States + Lanes<L>::state();
    // Nothing is behind the last chunk.
    if (chunk == s.chunks.count() - 1 || column >= m.columns) continue;
    ScaledProduct<T> product;
    T value = T(0);
    const bool upward = m.part[side].upward;
    const index_t end = s.chunks.end(upward, chunk);
    for (index_t t = s.chunks.begin(upward, chunk); t < end; t += L::SummaryRows) {
      LaneRows<T, L::SummaryRows> rows;
      rows.template load<false>(m, side, b, state, column, t, end);
#pragma unroll
      for (int u = 0; u < L::SummaryRows; ++u) {
        if (t + u >= end) break;
        value = multiply_add(rows.a[u], value, rows.in[u] * rows.x[u]);
        product.multiply(rows.a[u]);
      }
    }
    if (state >= m.part[side].states) continue;
    const index_t at = s.at(b, chunk, side, state);
    s.state[at * m.columns + column] = value;
    if (column == 0) {
      s.mantissa[at] = product.mantissa;
      s.exponent[at] = product.exponent;
    }
  }
}

/// Work of a group in phase 3: rows of one chunk of one matrix, both triangles one after the other, a
/// tile of columns.
template <class L, class T>
__host__ __device__ index_t lanes_apply_work(const Summarised<T>& s) {
  return s.m.batch * s.chunks.count() * pieces(s.m.columns, L::Columns);
}

/// One triangle of a chunk, and one tile of its states. Lanes write the rows whose turn it is.
template <class L, class T>
__device__ void sweep_lanes(const Summarised<T>& s, int side, index_t b, index_t chunk,
                            index_t column, bool writes, index_t state, bool first) {
  constexpr int turns = (L::Rows + L::States - 1) / L::States;
  const Triangles<T>& m = s.m;
  const Triangle<T>& triangle = m.part[side];
  const int lane = Lanes<L>::state();
  T value = chunk > 0 && state < triangle.states
                ? s.state[s.at(b, chunk, side, state) * m.columns + column]
                : T(0);
  const index_t end = s.chunks.end(triangle.upward, chunk);
  for (index_t t = s.chunks.begin(triangle.upward, chunk); t < end; t += L::Rows) {
    LaneRows<T, L::Rows> rows;
    rows.template load<true>(m, side, b, state, column, t, end);
    T mine[turns];
#pragma unroll
    for (int w = 0; w < turns; ++w) {
      const int u = w * L::States + lane;
      const bool wanted = u < L::Rows && t + u < end;
      mine[w] = wanted ? m.base(first, b, m.row(side, t + u), column) : T(0);
    }
#pragma unroll
    for (int u = 0; u < L::Rows; ++u) {
      const T next = multiply_add(rows.a[u], value, rows.in[u] * rows.x[u]);
      const T emitted = triangle.inclusive ? next : value;
      value = next;
      // Selected, not multiplied by a zero: in front of t = 0 there is no state, and the state of a
      // slot without data may be NaN (0 * Inf).
      const bool counts = state < triangle.states && (t + u > 0 || triangle.inclusive);
      const T sum = Lanes<L>::sum(counts ? rows.out[u] * emitted : T(0));
      if (u % L::States == lane) mine[u / L::States] += sum;
    }
#pragma unroll
    for (int w = 0; w < turns; ++w) {
      const int u = w * L::States + lane;
      if (u < L::Rows && t + u < end && writes) {
        m.output(b, m.row(side, t + u), column, mine[w]);
      }
    }
  }
}

template <class L, class T>
__global__ void __launch_bounds__(lanes_threads, 4)
    apply_lanes(const __grid_constant__ Summarised<T> s) {
  const Triangles<T>& m = s.m;
  const index_t column_tiles = pieces(m.columns, L::Columns);
  const index_t work = lanes_apply_work<L>(s);
  for (index_t unit = Lanes<L>::first_group(); unit < work; unit += Lanes<L>::groups()) {
    // From the last chunk, which phase 1 has left in the cache.
    const index_t at = work - 1 - unit, rest = at / column_tiles;
    const index_t own_column = (at - rest * column_tiles) * L::Columns + Lanes<L>::column();
    const bool writes = own_column < m.columns;
    // A thread without a column takes part in the exchange, on another's data.
    const index_t column = writes ? own_column : m.columns - 1;
    const index_t b = rest / s.chunks.count();
    const index_t range = rest - b * s.chunks.count();
    bool first = true;
    for (int side = 0; side < 2; ++side) {
      const index_t chunk = s.chunks.turned(m.part[side].upward, range);
      // The first pass writes the diagonal part even if there is no state.
      for (index_t tile = 0; tile < m.part[side].states || (side == 1 && first);
           tile += L::States) {
        // The next pass reads y, which other lanes have written.
        if (!first) __syncwarp(Lanes<L>::mask());
        sweep_lanes<L>(s, side, b, chunk, column, writes, tile + Lanes<L>::state(), first);
        first = false;
      }
    }
  }
}

}  // namespace structmat::gpu::recurrence
