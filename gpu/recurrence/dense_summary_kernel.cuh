/// \file
/// Dense transitions of order up to 8 R, phases 1 and 2: the product of a chunk's transitions is the
/// same recurrence from unit columns.
#pragma once

#include "core/shared.cuh"
#include "recurrence/dense_rows.cuh"

namespace structmat::gpu::recurrence {

/// Rows begin <= t < end: the states behind them and, where wanted, the product of their transitions.
template <bool WithProduct, bool Paired, class T, int R>
__device__ void summarise(const DenseProblem<T, R>& problem, int side, index_t b, index_t column,
                          index_t begin, index_t end, Product<parts<T>, R>& product,
                          Columns<parts<T>, R>& state) {
  constexpr int Rows = dense_rows, P = parts<T>;
  DenseCursor<T, R> cursor(problem.m, side, b, column, begin);
  for (index_t t = begin; t < end; t += Rows) {
    DenseRows<T, R, Rows> rows;
    rows.template load<false, Paired>(cursor, t, end, problem.m.conjugate);
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      if (t + u < end) {
        const Matrix<P, R> a = rows.transition(u);
        Columns<P, R> next = rows.entering(u);
        advance(a, state, next);
        state = next;
        if constexpr (WithProduct) {
#pragma unroll
          for (int c = 0; c < R; ++c) {
            Columns<P, R> column_next;
            advance(a, product.column[c], column_next);
            product.column[c] = column_next;
          }
        }
      }
    }
    // Products of so many transitions stay in range: see the accuracy of apply.
    if constexpr (WithProduct) {
#pragma unroll
      for (int c = 0; c < R; ++c) normalise(product.column[c], product.exponent[c]);
    }
  }
}

/// Phase 1, a block a group of chunks, a warp a chunk: what the chunks in front of it in its group do,
/// and the group as a whole.
template <class T, int R>
__global__ void __launch_bounds__(dense_threads, dense_residents<T, R>)
    summarise_dense(const __grid_constant__ DenseProblem<T, R> problem) {
  constexpr int P = parts<T>;
  using Summaries = DenseSummaries<P, R>;
  const Triangles<T>& m = problem.m;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  Summaries shared{dynamic_shared<double>(), nullptr, nullptr, 8};
  shared.state = shared.product + group_chunks * Summaries::product_size;
  shared.exponent = reinterpret_cast<int*>(shared.state + group_chunks * 8 * Summaries::state_size);
  const index_t work = m.batch * problem.sides() * problem.groups();
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t group = unit % problem.groups(), rest = unit / problem.groups();
    const int side = problem.side_of(static_cast<int>(rest % problem.sides()));
    const index_t b = rest / problem.sides(), chunk = group * group_chunks + warp;
    const Triangle<T>& triangle = m.part[side];
    const bool exists = chunk < problem.chunks.count();
    // Nothing is behind the last chunk.
    const bool wanted = chunk < problem.chunks.count() - 1;
    const index_t begin = wanted ? problem.chunks.begin(triangle.upward, chunk) : 0;
    const index_t end = wanted ? problem.chunks.end(triangle.upward, chunk) : 0;
    for (index_t tile = 0; tile < problem.column_tiles(); ++tile) {
      const index_t column = 8 * tile + lane / 4;
      Product<P, R> product = Product<P, R>::identity(triangle.states);
      Columns<P, R> state;
      if (tile == 0) {
        problem.paired[side]
            ? summarise<true, true>(problem, side, b, column, begin, end, product, state)
            : summarise<true, false>(problem, side, b, column, begin, end, product, state);
        product.store(shared.product_of(warp), shared.exponent_of(warp));
      } else {
        problem.paired[side]
            ? summarise<false, true>(problem, side, b, column, begin, end, product, state)
            : summarise<false, false>(problem, side, b, column, begin, end, product, state);
      }
      store_column(state, shared.state_of(warp, lane / 4));
      __syncthreads();
      if (exists) {
        product = Product<P, R>::identity(triangle.states);
        state = {};
        const bool last = warp == group_chunks - 1 && wanted;
        for (int front = 0; front < warp; ++front) {
          const auto step =
              ChunkStep<P, R>::load(shared.product_of(front), shared.exponent_of(front));
          state = step.times(state, load_column<P, R>(shared.state_of(front, lane / 4)));
          if (tile == 0) step.compose(product);
        }
        const index_t at = problem.prefix_at(b, side, chunk);
        if (tile == 0) {
          product.store(problem.prefix.product_of(at), problem.prefix.exponent_of(at));
        }
        if (column < m.columns) store_column(state, problem.prefix.state_of(at, column));
        if (last) {
          const auto step =
              ChunkStep<P, R>::load(shared.product_of(warp), shared.exponent_of(warp));
          state = step.times(state, load_column<P, R>(shared.state_of(warp, lane / 4)));
          const index_t all = problem.group_at(b, side, group);
          if (tile == 0) {
            step.compose(product);
            product.store(problem.group.product_of(all), problem.group.exponent_of(all));
          }
          if (column < m.columns) store_column(state, problem.group.state_of(all, column));
        }
      }
      __syncthreads();
    }
  }
}

template <class T, int R>
std::size_t summarise_dense_shared_bytes() {
  using Summaries = DenseSummaries<parts<T>, R>;
  return group_chunks * ((Summaries::product_size + 8 * Summaries::state_size) * sizeof(double) +
                         Summaries::order * sizeof(int));
}

/// Phase 2, a block a triangle of one matrix and eight right-hand sides, a warp a segment of groups:
/// the states in front of the groups take the place of those behind them.
constexpr int dense_segments = 16;
constexpr unsigned combine_dense_threads = 32 * dense_segments;

template <class T, int R>
__global__ void __launch_bounds__(combine_dense_threads)
    combine_dense(const __grid_constant__ DenseProblem<T, R> problem) {
  constexpr int P = parts<T>;
  using Summaries = DenseSummaries<P, R>;
  const Triangles<T>& m = problem.m;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  Summaries shared{dynamic_shared<double>(), nullptr, nullptr, 8};
  shared.state = shared.product + dense_segments * Summaries::product_size;
  shared.exponent =
      reinterpret_cast<int*>(shared.state + dense_segments * 8 * Summaries::state_size);
  const index_t groups = problem.groups(), length = pieces(groups, dense_segments);
  const index_t begin = min(groups, warp * length), end = min(groups, begin + length);
  // Nothing is behind the last group.
  const index_t behind = min(end, groups - 1);
  const index_t tiles = problem.column_tiles(), work = m.batch * problem.sides() * tiles;
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t column = unit % tiles * 8 + lane / 4, rest = unit / tiles;
    const int side = problem.side_of(static_cast<int>(rest % problem.sides()));
    const index_t b = rest / problem.sides();
    const auto step_of = [&](index_t g) {
      const index_t at = problem.group_at(b, side, g);
      return ChunkStep<P, R>::load(problem.group.product_of(at), problem.group.exponent_of(at));
    };
    // A lane without a right-hand side works on another's data.
    const index_t source = min(column, m.columns - 1);
    const auto state_of = [&](index_t g) {
      return problem.group.state_of(problem.group_at(b, side, g), source);
    };
    Product<P, R> product = Product<P, R>::identity(m.part[side].states);
    Columns<P, R> state;
    // The next step is under way while this one is worked on.
    auto next = step_of(begin < behind ? begin : 0);
    for (index_t g = begin; g < behind; ++g) {
      const auto step = next;
      const auto added = load_column<P, R>(state_of(g));
      if (g + 1 < behind) next = step_of(g + 1);
      state = step.times(state, added);
      step.compose(product);
    }
    product.store(shared.product_of(warp), shared.exponent_of(warp));
    store_column(state, shared.state_of(warp, lane / 4));
    __syncthreads();
    state = {};
    for (int front = 0; front < warp; ++front) {
      const auto step = ChunkStep<P, R>::load(shared.product_of(front), shared.exponent_of(front));
      state = step.times(state, load_column<P, R>(shared.state_of(front, lane / 4)));
    }
    if (begin < behind) next = step_of(begin);
    for (index_t g = begin; g < end; ++g) {
      const auto step = next;
      Columns<P, R> behind_group;
      if (g < behind) behind_group = load_column<P, R>(state_of(g));
      if (g + 1 < behind) next = step_of(g + 1);
      __syncwarp();
      if (column < m.columns) store_column(state, state_of(g));
      if (g < behind) state = step.times(state, behind_group);
    }
    __syncthreads();
  }
}

template <class T, int R>
std::size_t combine_dense_shared_bytes() {
  return summarise_dense_shared_bytes<T, R>() / group_chunks * dense_segments;
}

}  // namespace structmat::gpu::recurrence
