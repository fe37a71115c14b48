/// \file
/// Scalar and diagonal transitions, phase 3 of reverse mode: a lane carries a state of a right-hand side
/// through a chunk, and the cotangent of it back.
#pragma once

#include "core/reduce.cuh"
#include "core/shared.cuh"
#include "recurrence/apply_vjp.cuh"
#include "recurrence/lanes_kernel.cuh"

namespace structmat::gpu::recurrence {

/// Rows whose numbers are in registers at a time.
template <class T>
inline constexpr int lane_vjp_rows = sizeof(T) == 4 ? 8 : 4;

template <class T>
struct LanesReverse {
  Summarised<T> forward, adjoint;
  Cotangents<T> bar;

  __host__ __device__ index_t work() const {
    return forward.m.batch / bar.together * forward.chunks.count();
  }
};

/// Each lane keeps the state in front of every Rows-th row of a chunk.
template <class L, class T>
index_t lanes_vjp_shared_bytes(const LanesReverse<T>& r) {
  return pieces(r.forward.chunks.length, L::Rows) * index_t{lanes_threads} *
         static_cast<index_t>(sizeof(T));
}

/// Where a lane stands in an array: at row t, and how far the next one is.
template <class T>
struct LaneCursor {
  T* at;
  index_t step;

  __device__ void move(index_t rows) { at += rows * step; }
};

/// Which of Rows rows from t on take part, as numbers from t. Nothing comes from behind the last row of a
/// triangle without diagonal, and nothing stands in front of the first one.
struct LaneRange {
  int inside, fed, first_transition, first_out;

  __device__ LaneRange(index_t t, index_t end, index_t n, bool inclusive, int rows)
      : inside(static_cast<int>(min(index_t{rows}, end - t))),
        fed(static_cast<int>(min(index_t{rows}, min(end, inclusive ? n : n - 1) - t))),
        first_transition(t == 0 ? 1 : 0),
        first_out(t == 0 && !inclusive ? 1 : 0) {}
};

/// Sums of one kind of Rows rows over `Lanes` lanes that are Stride apart, and the array that a lane adds
/// some of them to: those of its own rows.
template <int Lanes, int Stride, int Rows, class T>
struct LaneTarget {
  static constexpr int own = Rows > Lanes ? Rows / Lanes : 1;
  LaneCursor<T> cursor;
  int first;    // own row
  bool wanted;  // by anybody, and from this lane
  T old[own];

  /// `at`: row t of the array; null where it is not wanted. lane: of `Lanes`.
  __device__ LaneTarget(T* at, index_t step, bool writes, int lane)
      : cursor{at, step},
        first(lane * Rows / Lanes),
        wanted(at != nullptr && writes && lane % (Lanes > Rows ? Lanes / Rows : 1) == 0) {}

  /// What stands in the own rows from `begin` to `end`.
  __device__ void load(int begin, int end) {
#pragma unroll
    for (int i = 0; i < own; ++i) {
      const int u = first + i;
      const bool there = wanted && u >= begin && u < end;
      old[i] = there ? cursor.at[u * cursor.step] : T(0);
    }
  }
  /// Adds the sums of `value`, conjugated, to them.
  __device__ void add(unsigned mask, int lane, T (&value)[Rows], bool conjugated, int begin,
                      int end) {
    scatter_sums<Lanes, Stride>(mask, lane, value);
#pragma unroll
    for (int i = 0; i < own; ++i) {
      const int u = first + i;
      const bool there = wanted && u >= begin && u < end;
      if (there) cursor.at[u * cursor.step] = old[i] + conjugate_if(conjugated, value[i]);
    }
  }
};

/// A chunk of one triangle of one batch entry, one tile of states and one of columns. Shared: of a scalar
/// transition, whose cotangent is a sum over the states.
template <bool Shared, class L, class T>
__device__ void pull_back_lane(const LanesReverse<T>& r, int side, index_t b, index_t range,
                               index_t state, index_t own_column) {
  constexpr int Rows = L::Rows;
  const Triangles<T>& m = r.forward.m;
  const Triangle<T>& g = m.part[side];
  const bool inclusive = g.inclusive, real = state < g.states;
  const bool counted = L::Columns == 1 || own_column < m.columns;
  // A lane without a right-hand side works on another's data.
  const index_t column = counted ? own_column : m.columns - 1;
  const unsigned mask = Lanes<L>::mask();
  const int state_lane = Lanes<L>::state(), column_lane = Lanes<L>::column();
  const index_t chunk = r.forward.chunks.turned(g.upward, range);
  const index_t begin = r.forward.chunks.begin(g.upward, chunk);
  const index_t end = r.forward.chunks.end(g.upward, chunk);
  const auto in_front = [&](const Summarised<T>& s, index_t at) {
    return at > 0 && real ? s.state[s.at(b, at, side, state) * m.columns + column] : T(0);
  };
  const auto of_state = [&](const auto& v) {
    return LaneCursor<const T>{v.data + b * v.stride[0] + begin * v.stride[1] + state * v.stride[2],
                               v.stride[1]};
  };
  LaneCursor<const T> a = of_state(g.transition), in = of_state(g.in), out = of_state(g.out);
  const auto of_column = [&](auto& v) {
    return LaneCursor<std::remove_reference_t<decltype(*v.data)>>{
        v.data + b * v.stride[0] + m.row(side, begin) * v.stride[1] + column * v.stride[2],
        g.upward ? -v.stride[1] : v.stride[1]};
  };
  LaneCursor<const T> x = of_column(m.x), y = of_column(r.adjoint.m.x);
  const bool conjugate_x = m.conjugate, conjugate_y = r.adjoint.m.conjugate;

  // Behind the chunk, and for states that do not exist, zero and unread.
  const auto load = [&](T(&to)[Rows], const LaneCursor<const T>& from, int first, int last) {
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      to[u] = u >= first && u < last ? from.at[u * from.step] : T(0);
    }
  };
  T *const kept = dynamic_shared<T>() + threadIdx.x, *at = kept;
  T value = in_front(r.forward, chunk);
  index_t t = begin;
  for (;; t += Rows, at += lanes_threads) {
    *at = value;
    if (t + Rows >= end) break;
    T a_of[Rows], in_of[Rows], x_of[Rows];
    load(a_of, a, t == 0 || !real ? 1 : 0, real ? Rows : 0);
    load(in_of, in, 0, real ? Rows : 0);
    load(x_of, x, 0, Rows);
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      value = multiply_add(a_of[u], value, in_of[u] * conjugate_if(conjugate_x, x_of[u]));
    }
    a.move(Rows), in.move(Rows), out.move(Rows), x.move(Rows), y.move(Rows);
  }

  T mu = in_front(r.adjoint, r.adjoint.chunks.turned(r.adjoint.m.part[side].upward, range));
  if (inclusive && end < m.n) {
    // So far it is that of the state behind the next row.
    mu = real ? g.transition(b, end, state, 0) * mu : T(0);
  }
  const TriangleCotangent<T>& bar = r.bar.part[side];
  const auto target = [&](const auto& v) {
    return v.data == nullptr ? nullptr
                             : v.data + b * v.stride[0] + t * v.stride[1] + state * v.stride[2];
  };
  using Column = LaneTarget<L::Columns, L::States, Rows, T>;
  Column in_bar(target(bar.in), bar.in.stride[1], real, column_lane);
  Column out_bar(target(bar.out), bar.out.stride[1], real, column_lane);
  constexpr int sharing = Shared ? L::group : L::Columns;
  const int sharing_lane = Shared ? static_cast<int>(threadIdx.x) % L::group : column_lane;
  // Stride 0 between states leads all of them to the one number.
  LaneTarget<sharing, Shared ? 1 : L::States, Rows, T> a_bar(
      target(bar.transition), bar.transition.stride[1], Shared || real, sharing_lane);
  LaneTarget<L::States, 1, Rows, T> x_bar(
      r.bar.x.data == nullptr ? nullptr
                              : r.bar.x.data + b * r.bar.x.stride[0] +
                                    m.row(side, t) * r.bar.x.stride[1] + column * r.bar.x.stride[2],
      g.upward ? -r.bar.x.stride[1] : r.bar.x.stride[1], counted, state_lane);

  for (;; t -= Rows, at -= lanes_threads) {
    const LaneRange rows(t, end, m.n, inclusive, Rows);
    T a_of[Rows], in_of[Rows], out_of[Rows], x_of[Rows], y_of[Rows];
    load(a_of, a, rows.first_transition, real ? rows.inside : 0);
    load(in_of, in, 0, real ? rows.inside : 0);
    load(out_of, out, rows.first_out, real ? rows.inside : 0);
    load(x_of, x, 0, rows.inside);
    load(y_of, y, 0, rows.inside);
    in_bar.load(0, rows.fed);
    out_bar.load(rows.first_out, rows.inside);
    a_bar.load(rows.first_transition, rows.fed);
    x_bar.load(0, rows.fed);
    T states[Rows + 1];
    states[0] = *at;
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      x_of[u] = conjugate_if(conjugate_x, x_of[u]);
      y_of[u] = conjugate_if(conjugate_y, y_of[u]);
      states[u + 1] = multiply_add(a_of[u], states[u], in_of[u] * x_of[u]);
    }
    T in_sum[Rows], out_sum[Rows], a_sum[Rows], x_sum[Rows];
#pragma unroll
    for (int u = Rows - 1; u >= 0; --u) {
      // Selected, not multiplied by a zero: what is not there may not be finite.
      const bool fed = u < rows.fed;
      const T seen = out_of[u] * y_of[u];
      if (inclusive) mu += seen;
      const T emitted = inclusive ? states[u + 1] : states[u];
      out_sum[u] = counted ? emitted * y_of[u] : T(0);
      in_sum[u] = counted ? mu * x_of[u] : T(0);
      a_sum[u] = counted && (!Shared || real) ? mu * states[u] : T(0);
      x_sum[u] = real && fed ? in_of[u] * mu : T(0);
      T next = fed ? a_of[u] * mu : T(0);
      if (!inclusive) next += seen;
      mu = u < rows.inside ? next : mu;
    }
    in_bar.add(mask, column_lane, in_sum, true, 0, rows.fed);
    out_bar.add(mask, column_lane, out_sum, true, rows.first_out, rows.inside);
    a_bar.add(mask, sharing_lane, a_sum, true, rows.first_transition, rows.fed);
    x_bar.add(mask, state_lane, x_sum, conjugate_y, 0, rows.fed);
    if (t == begin) break;
    a.move(-Rows), in.move(-Rows), out.move(-Rows), x.move(-Rows), y.move(-Rows);
    in_bar.cursor.move(-Rows), out_bar.cursor.move(-Rows);
    a_bar.cursor.move(-Rows), x_bar.cursor.move(-Rows);
  }
}

/// A group of lanes has the rows of a chunk: both triangles, all states and columns, and all entries of
/// the batch that add to the same numbers, one after the other.
template <bool Shared, class L, class T>
__global__ void __launch_bounds__(lanes_threads, sizeof(T) > 8 ? 2 : 3)
    pull_back_lanes(const __grid_constant__ LanesReverse<T> r) {
  const index_t work = r.work(), count = r.forward.chunks.count();
  for (index_t at = Lanes<L>::first_group(); at < work; at += Lanes<L>::groups()) {
    const index_t unit = at / count, range = at - unit * count;
    for (index_t b = unit * r.bar.together; b < (unit + 1) * r.bar.together; ++b) {
      for (int side = 0; side < 2; ++side) {
        for (index_t tile = 0; tile < r.forward.m.part[side].states; tile += L::States) {
          for (index_t column = 0; column < r.forward.m.columns; column += L::Columns) {
            pull_back_lane<Shared, L>(r, side, b, range, tile + Lanes<L>::state(),
                                      column + Lanes<L>::column());
            // The next pass adds to numbers that other lanes have written.
            __syncwarp(Lanes<L>::mask());
          }
        }
      }
    }
  }
}

}  // namespace structmat::gpu::recurrence
