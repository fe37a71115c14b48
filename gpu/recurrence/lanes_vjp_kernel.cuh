/// \file
/// Scalar and diagonal transitions, phase 3 of reverse mode: a lane carries a state of a right-hand side,
/// and the cotangent of it back.
#pragma once

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

/// The numbers of Rows rows that a lane adds to: loaded before the sums are known.
template <class L, class T>
struct LaneTargets {
  static constexpr int turns = (L::Rows + L::States - 1) / L::States;
  T out[L::Rows], in[L::Rows], transition[L::Rows];  // of the lane's state
  T x[turns], shared[turns];                         // of the rows whose turn it is
};

/// A chunk of one triangle of one batch entry, one tile of states and one of columns.
template <class L, class T>
class LanesPullBack {
 public:
  static constexpr int Rows = L::Rows, turns = LaneTargets<L, T>::turns;

  __device__ LanesPullBack(const LanesReverse<T>& r, int side, index_t b, index_t range,
                           index_t state, index_t column)
      : r_(r),
        m_(r.forward.m),
        triangle_(m_.part[side]),
        bar_(r.bar.part[side]),
        side_(side),
        b_(b),
        state_(state),
        counted_(column < m_.columns),
        column_(counted_ ? column : m_.columns - 1),
        real_(state < triangle_.states),
        kept_(dynamic_shared<T>() + threadIdx.x) {
    const index_t chunk = r.forward.chunks.turned(triangle_.upward, range);
    begin_ = r.forward.chunks.begin(triangle_.upward, chunk);
    end_ = r.forward.chunks.end(triangle_.upward, chunk);
    value_ = in_front(r.forward, chunk);
    mu_ = in_front(r.adjoint, r.adjoint.chunks.turned(r.adjoint.m.part[side].upward, range));
  }

  __device__ void run() {
    int kept = 0;
    for (index_t t = begin_;; t += Rows, ++kept) {
      kept_[kept * lanes_threads] = value_;
      if (t + Rows >= end_) break;
      LaneRows<T, Rows> rows;
      rows.template load<false>(m_, side_, b_, state_, column_, t, end_);
#pragma unroll
      for (int u = 0; u < Rows; ++u) {
        value_ = multiply_add(rows.a[u], value_, rows.in[u] * rows.x[u]);
      }
    }
    // Where the diagonal is included, mu is that of the state behind the next row, so far.
    if (triangle_.inclusive && end_ < m_.n) {
      mu_ = real_ ? triangle_.transition(b_, end_, state_, 0) * mu_ : T(0);
    }
    for (; kept >= 0; --kept) pull_back(begin_ + kept * Rows, kept_[kept * lanes_threads]);
  }

 private:
  __device__ T in_front(const Summarised<T>& s, index_t chunk) const {
    return chunk > 0 && real_ ? s.state[s.at(b_, chunk, side_, state_) * m_.columns + column_]
                              : T(0);
  }

  /// Nothing comes from behind the last row of a triangle without diagonal, and nothing stands in front
  /// of the first one.
  __device__ bool fed(index_t t) const {
    return triangle_.inclusive || t + 1 < m_.n;
  }
  __device__ bool emits(index_t t) const {
    return triangle_.inclusive || t > 0;
  }

  __device__ static T column_sum(T value) {
#pragma unroll
    for (int offset = L::States; offset < L::group; offset *= 2) {
      value += shuffle_xor(Lanes<L>::mask(), value, offset);
    }
    return value;
  }

  __device__ void load_targets(LaneTargets<L, T>& old, index_t t) const {
    const bool writer = real_ && Lanes<L>::column() == 0;
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      const bool there = writer && t + u < end_;
      old.out[u] =
          there && bar_.out.data != nullptr && emits(t + u) ? bar_.out(b_, t + u, state_) : T(0);
      old.in[u] =
          there && bar_.in.data != nullptr && fed(t + u) ? bar_.in(b_, t + u, state_) : T(0);
      old.transition[u] =
          there && own_transition(t + u) ? bar_.transition(b_, t + u, state_, 0) : T(0);
    }
#pragma unroll
    for (int w = 0; w < turns; ++w) {
      const int u = w * L::States + Lanes<L>::state();
      old.x[w] = writes_x(t, u) ? r_.bar.x(b_, m_.row(side_, t + u), column_) : T(0);
      old.shared[w] = writes_shared(t, u) ? bar_.transition(b_, t + u, 0, 0) : T(0);
    }
  }

  __device__ bool own_transition(index_t t) const {
    return bar_.transition.data != nullptr && !r_.bar.shared_transition && fed(t) && t > 0;
  }
  __device__ bool writes_x(index_t t, int u) const {
    return u < Rows && t + u < end_ && counted_ && fed(t + u) && r_.bar.x.data != nullptr;
  }
  __device__ bool writes_shared(index_t t, int u) const {
    return u < Rows && t + u < end_ && Lanes<L>::column() == 0 && r_.bar.shared_transition &&
           bar_.transition.data != nullptr && fed(t + u) && t + u > 0;
  }

  /// Rows t ... t + Rows - 1 from the last to the first; `front`: the state in front of them.
  __device__ void pull_back(index_t t, T front) {
    LaneRows<T, Rows> rows;
    rows.template load<true>(m_, side_, b_, state_, column_, t, end_);
    T y[Rows];
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      y[u] = t + u < end_ ? r_.adjoint.m.input(b_, m_.row(side_, t + u), column_) : T(0);
    }
    LaneTargets<L, T> old;
    load_targets(old, t);

    T state[Rows + 1];
    state[0] = front;
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      state[u + 1] = multiply_add(rows.a[u], state[u], rows.in[u] * rows.x[u]);
    }
    T x_sum[turns] = {}, shared_sum[turns] = {};
#pragma unroll
    for (int u = Rows - 1; u >= 0; --u) {
      if (t + u >= end_) continue;
      const bool feeds = fed(t + u), shares = r_.bar.shared_transition && feeds && t + u > 0;
      if (triangle_.inclusive) mu_ = multiply_add(rows.out[u], y[u], mu_);
      // Selected, not multiplied by a zero: what is not there may not be finite.
      const T emitted = triangle_.inclusive ? state[u + 1] : state[u];
      const T out = column_sum(counted_ ? emitted * y[u] : T(0));
      const T in = column_sum(counted_ ? mu_ * rows.x[u] : T(0));
      const T own = mu_ * state[u];
      T transition = column_sum(counted_ ? own : T(0));
      const T x = Lanes<L>::sum(real_ && feeds ? rows.in[u] * mu_ : T(0));
      if (r_.bar.shared_transition) transition = Lanes<L>::sum(real_ ? transition : T(0));
      if (u % L::States == Lanes<L>::state()) {
        x_sum[u / L::States] = x;
        if (shares) shared_sum[u / L::States] = transition;
      }
      if (real_ && Lanes<L>::column() == 0) {
        if (bar_.out.data != nullptr && emits(t + u)) {
          bar_.out(b_, t + u, state_) = old.out[u] + conjugate(out);
        }
        if (bar_.in.data != nullptr && feeds) {
          bar_.in(b_, t + u, state_) = old.in[u] + conjugate(in);
        }
        if (own_transition(t + u)) {
          bar_.transition(b_, t + u, state_, 0) = old.transition[u] + conjugate(transition);
        }
      }
      mu_ = feeds ? rows.a[u] * mu_ : T(0);
      if (!triangle_.inclusive) mu_ = multiply_add(rows.out[u], y[u], mu_);
    }
#pragma unroll
    for (int w = 0; w < turns; ++w) {
      const int u = w * L::States + Lanes<L>::state();
      if (writes_x(t, u)) {
        r_.bar.x(b_, m_.row(side_, t + u), column_) =
            old.x[w] + conjugate_if(r_.adjoint.m.conjugate, x_sum[w]);
      }
      if (writes_shared(t, u)) {
        bar_.transition(b_, t + u, 0, 0) = old.shared[w] + conjugate(shared_sum[w]);
      }
    }
  }

  const LanesReverse<T>& r_;
  const Triangles<T>& m_;
  const Triangle<T>& triangle_;
  const TriangleCotangent<T>& bar_;
  int side_;
  index_t b_, state_, begin_, end_;
  bool counted_;
  index_t column_;  // a lane without a right-hand side works on another's data
  bool real_;
  T* kept_;
  T value_, mu_;
};

/// A group of lanes has the rows of a chunk: both triangles, all states and columns, and all entries of
/// the batch that add to the same numbers, one after the other.
template <class L, class T>
__global__ void __launch_bounds__(lanes_threads, sizeof(T) > 8 ? 2 : 3)
    pull_back_lanes(const __grid_constant__ LanesReverse<T> r) {
  const index_t work = r.work(), count = r.forward.chunks.count();
  for (index_t at = Lanes<L>::first_group(); at < work; at += Lanes<L>::groups()) {
    const index_t unit = at / count, range = at - unit * count;
    for (index_t b = unit * r.bar.together; b < (unit + 1) * r.bar.together; ++b) {
      for (int side = 0; side < 2; ++side) {
        for (index_t tile = 0; tile < r.forward.m.part[side].states; tile += L::States) {
          for (index_t column = 0; column < r.forward.m.columns; column += L::Columns) {
            LanesPullBack<L, T>(r, side, b, range, tile + Lanes<L>::state(),
                                column + Lanes<L>::column())
                .run();
            // The next pass adds to numbers that other lanes have written.
            __syncwarp(Lanes<L>::mask());
          }
        }
      }
    }
  }
}

}  // namespace structmat::gpu::recurrence
