/// \file
/// Dense transitions of order up to 8 R, phase 3 of reverse mode: a warp carries the states of eight
/// right-hand sides through a chunk and their cotangents back. Cotangents of generators are products over
/// right-hand sides, for which both come to lie in lanes as operands do.
#pragma once

#include "recurrence/apply_vjp.cuh"
#include "recurrence/dense_targets.cuh"

namespace structmat::gpu::recurrence {

template <class T, int R>
struct DenseReverse {
  DenseProblem<T, R> forward, adjoint;
  Cotangents<T> bar;
  bool paired[2];  ///< of the transitions and their cotangents
  double* kept;    ///< (unit, chunk, batch of rows, right-hand side, state): in front of these rows
  int kept_columns;

  __host__ __device__ index_t kept_batches() const {
    return pieces(forward.chunks.length, dense_rows);
  }
  __host__ __device__ index_t kept_step() const {
    return kept_columns * DenseSummaries<parts<T>, R>::state_size;
  }
};

/// A chunk of one triangle of one batch entry and eight right-hand sides, of which 4 H may exist.
template <bool Paired, int H, class T, int R>
__device__ void pull_back_chunk(const DenseReverse<T, R>& r, int side, index_t b, index_t range,
                                index_t first_column, double* kept) {
  constexpr int Rows = dense_rows, P = parts<T>;
  // Rows whose generators registers hold beside the states; the others are loaded again from the cache on
  // the way back. What is added to is loaded before the recurrence begins where all of them fit.
  constexpr int Held = P * R == 1 ? Rows : P * R == 2 ? 2 : 1;
  constexpr bool ahead = Held == Rows;
  const Triangles<T>& m = r.forward.m;
  const Triangle<T>& triangle = m.part[side];
  const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4;
  const index_t column = first_column + lane / 4;
  const int count = static_cast<int>(min(index_t{8}, m.columns - first_column));
  const bool counted = lane / 4 < count;
  const index_t source = counted ? column : m.columns - 1;
  const index_t chunk = r.forward.chunks.turned(triangle.upward, range);
  const index_t begin = r.forward.chunks.begin(triangle.upward, chunk);
  const index_t end = r.forward.chunks.end(triangle.upward, chunk);

  double* at = kept + lane / 4 * DenseSummaries<P, R>::state_size;
  index_t t = begin;
  DenseCursor<T, R> cursor(m, side, b, column, begin);
  {
    Columns<P, R> state = state_in_front(r.forward, side, b, chunk, source);
    for (;; t += Rows, at += r.kept_step()) {
      if (counted) store_column(state, at);
      if (t + Rows >= end) break;
      DenseRows<T, R, Rows> rows;
      rows.template load<false, Paired>(cursor, t, end, m.conjugate);
#pragma unroll
      for (int u = 0; u < Rows; ++u) {
        Columns<P, R> next = rows.entering(u);
        advance(rows.transition(u), state, next);
        state = next;
      }
    }
  }

  const Triangles<T>& adjoint = r.adjoint.m;
  Columns<P, R> mu = state_in_front(
      r.adjoint, side, b, r.adjoint.chunks.turned(adjoint.part[side].upward, range), source);
  if (triangle.inclusive && end < m.n) {
    // So far it is that of the state behind the next row.
    DenseRows<T, R, 1> next;
    DenseCursor<T, R> behind(m, side, b, column, end);
    next.template load<false, Paired>(behind, end, end + 1, m.conjugate);
    Columns<P, R> carried;
    advance(transposed(next.a[0], true), mu, carried);
    mu = carried;
  }
  DenseTargets<T, R> targets(r.bar.part[side], triangle.states, b, t);
  for (;; t -= Rows, at -= r.kept_step(), cursor.move(-Rows), targets.move(-Rows)) {
    DenseRows<T, R, Held> rows;
    if constexpr (ahead) rows.template load<true, Paired>(cursor, t, end, m.conjugate);
    const auto use = [&](int u) { return RowUse(m.n, t + u, triangle.inclusive, t + u < end); };
    T y[Rows];
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      y[u] = t + u < end && counted ? adjoint.input(b, m.row(side, t + u), column) : T(0);
    }
    typename DenseTargets<T, R>::Row old[Rows];
    if constexpr (ahead) {
#pragma unroll
      for (int u = 0; u < Rows; ++u) {
        targets.template load<Paired>(old[u], use(u));
        targets.move(1);
      }
    } else {
      targets.move(Rows);
    }
    const index_t row = m.row(side, t + q);
    const bool writes = counted && r.bar.x.data != nullptr && use(q).fed;
    const T old_x = writes ? r.bar.x(b, row, column) : T(0);
    Columns<P, R> state[Rows + 1];
    if (counted) state[0] = load_column<P, R>(at);
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      if constexpr (!ahead) {
        if (u % Held == 0) rows.template load<false, Paired>(cursor, t + u, end, m.conjugate);
      }
      state[u + 1] = rows.entering(u % Held);
      advance(rows.transition(u % Held), state[u], state[u + 1]);
    }
    double x_sum[P][Rows] = {};
#pragma unroll
    for (int u = Rows - 1; u >= 0; --u) {
      const int v = u % Held;
      targets.move(-1);
      if constexpr (!ahead) {
        targets.template load<Paired>(old[u], use(u));
        if (v == Held - 1) {
          cursor.move(-Held);
          rows.template load<true, Paired>(cursor, t + u - v, end, m.conjugate);
          cursor.move(-Held);
        }
      }
      const bool inclusive = triangle.inclusive, there = t + u < end;
      const Columns<P, R> seen = times(rows.out[v], y[u]);
      if (inclusive) add(mu, seen);
      double sum[P];
      inner_product(rows.in[v], mu, sum);
#pragma unroll
      for (int p = 0; p < P; ++p) x_sum[p][u] = sum[p];
      const DenseSums<P, R, H> sums(operand<H>(mu, count), operand<H>(state[u], count),
                                    operand<H>(select(inclusive, state[u + 1], state[u]), count),
                                    rows.x[v], y[u]);
      targets.template add<Paired>(old[u], use(u), sums);
      // Selected: transition n-1 is never read.
      Columns<P, R> next;
      advance(transposed(rows.a[v], use(u).fed), mu, next);
      if (!inclusive) add(next, seen);
      mu = select(there, next, mu);
    }
    if constexpr (ahead) cursor.move(-Rows);
    const T x_bar = scattered_sum<T>(x_sum);
    if (writes) r.bar.x(b, row, column) = old_x + conjugate_if(adjoint.conjugate, x_bar);
    if (t == begin) break;
  }
}

/// Small blocks: units are few for each warp, and all blocks together end the sooner the finer they are.
/// Warps wait for memory: one with a few registers in local memory beats none.
constexpr int dense_vjp_warps = 2;
constexpr unsigned dense_vjp_threads = 32 * dense_vjp_warps;

/// A warp has the rows of a chunk: both triangles, all right-hand sides, and all entries of the batch
/// that add to the same numbers, one after the other.
template <int H, class T, int R>
__global__ void __launch_bounds__(dense_vjp_threads, parts<T>* R == 1 ? 5 : 4)
    pull_back_dense(const __grid_constant__ DenseReverse<T, R> r) {
  const Triangles<T>& m = r.forward.m;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const index_t chunks = r.forward.chunks.count(), work = m.batch / r.bar.together * chunks;
  const index_t step = gridDim.x * index_t{dense_vjp_warps};
  for (index_t at = blockIdx.x * index_t{dense_vjp_warps} + warp; at < work; at += step) {
    const index_t unit = at / chunks, range = at - unit * chunks;
    double* const kept = r.kept + at * r.kept_batches() * r.kept_step();
    for (index_t b = unit * r.bar.together; b < (unit + 1) * r.bar.together; ++b) {
      for (int side = 0; side < 2; ++side) {
        if (m.part[side].states == 0) continue;
        for (index_t column = 0; column < m.columns; column += 8) {
          r.paired[side] ? pull_back_chunk<true, H>(r, side, b, range, column, kept)
                         : pull_back_chunk<false, H>(r, side, b, range, column, kept);
          // The next pass adds to numbers that other lanes have written.
          __syncwarp();
        }
      }
    }
  }
}

}  // namespace structmat::gpu::recurrence
