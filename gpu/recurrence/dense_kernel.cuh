/// \file
/// Dense transitions of order up to 8 R, phase 3.
#pragma once

#include "recurrence/dense_rows.cuh"

namespace structmat::gpu::recurrence {

/// One triangle of a chunk in phase 3. y := base + contribution.
template <bool Paired, class T, int R>
__device__ void sweep_dense(const DenseProblem<T, R>& problem, int side, index_t b, index_t chunk,
                            index_t column, bool first) {
  constexpr int Rows = dense_rows, P = parts<T>;
  const Triangles<T>& m = problem.m;
  const Triangle<T>& triangle = m.part[side];
  const int q = static_cast<int>(threadIdx.x) % 4;
  // A lane without a right-hand side works on another's data.
  const index_t source = min(column, m.columns - 1);
  Columns<P, R> state;
  if (triangle.states > 0) state = state_in_front(problem, side, b, chunk, source);
  const index_t begin = problem.chunks.begin(triangle.upward, chunk);
  const index_t end = problem.chunks.end(triangle.upward, chunk);
  DenseCursor<T, R> cursor(m, side, b, column, begin);
  for (index_t t = begin; t < end; t += Rows) {
    DenseRows<T, R, Rows> rows;
    rows.template load<true, Paired>(cursor, t, end, m.conjugate);
    const bool writes = t + q < end && column < m.columns;
    const index_t row = m.row(side, t + q);
    const T base = writes ? m.base(first, b, row, column) : T(0);
    double sums[P][Rows];
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      Columns<P, R> next = rows.entering(u);
      advance(rows.transition(u), state, next);
      double sum[P];
      if (triangle.inclusive) {
        rows.emitted(u, next, sum);
      } else {
        rows.emitted(u, state, sum);
      }
#pragma unroll
      for (int p = 0; p < P; ++p) sums[p][u] = sum[p];
      state = next;
    }
    if constexpr (P == 1) {
      const double sum =
          part_of(base, 0) + scattered_sum(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
      if (writes) m.output(b, row, column, static_cast<T>(sum));
    } else {
      using Real = real_of_t<T>;
      const double re =
          part_of(base, 0) + scattered_sum(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
      const double im =
          part_of(base, 1) + scattered_sum(sums[1][0], sums[1][1], sums[1][2], sums[1][3]);
      if (writes) m.output(b, row, column, T(static_cast<Real>(re), static_cast<Real>(im)));
    }
  }
}

/// Phase 3, a warp the rows of a chunk of one matrix, both triangles one after the other, and eight
/// right-hand sides.
template <class T, int R>
__global__ void __launch_bounds__(dense_threads, dense_residents<T, R>)
    apply_dense(const __grid_constant__ DenseProblem<T, R> problem) {
  const Triangles<T>& m = problem.m;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const index_t tiles = problem.column_tiles(), work = m.batch * problem.chunks.count() * tiles;
  const index_t step = gridDim.x * index_t{dense_warps};
  for (index_t unit = blockIdx.x * index_t{dense_warps} + warp; unit < work; unit += step) {
    // From the last chunk, which phase 1 has left in the cache.
    const index_t at = work - 1 - unit, column = at % tiles * 8 + lane / 4, rest = at / tiles;
    const index_t range = rest % problem.chunks.count(), b = rest / problem.chunks.count();
    bool first = true;
    for (int side = 0; side < 2; ++side) {
      // The first pass writes the diagonal part even if there is no state.
      if (m.part[side].states == 0 && !(side == 1 && first)) continue;
      // The second pass reads y, which other lanes have written.
      if (!first) __syncwarp();
      const index_t chunk = problem.chunks.turned(m.part[side].upward, range);
      problem.paired[side] ? sweep_dense<true>(problem, side, b, chunk, column, first)
                           : sweep_dense<false>(problem, side, b, chunk, column, first);
      first = false;
    }
  }
}

}  // namespace structmat::gpu::recurrence
