/// \file
/// Dense transitions of order up to 8 R: a warp carries eight columns of states through a chunk, on
/// tensor cores. The product of the chunk's transitions is the same recurrence from unit columns.
#pragma once

#include "core/shared.cuh"
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

  __device__ void next_row() {
    a += a_step, in += in_step, out += out_step, x += x_step;
  }
};

/// What a lane reads of Rows consecutive t. Zero, unread, stands for what lies behind the `inside`-th,
/// for states beyond the order, for transition 0 and for out 0 where the diagonal is not included.
template <class T, int R, int Rows>
struct DenseRows {
  T a[Rows][R][R][2], in[Rows][R][2], out[Rows][R][2], x[Rows];

  /// Moves the cursor to the row behind them. No branch may stand between loads, or they wait for each
  /// other. Paired: both columns of a transition that a lane holds are read at once.
  template <bool WithOut, bool Paired>
  __device__ void load(DenseCursor<T, R>& at, index_t t, index_t end, bool conjugate) {
    const int inside = static_cast<int>(min(index_t{Rows}, end - t));
    const bool fresh = t == 0;
#pragma unroll
    for (int u = 0; u < Rows; ++u) {
      const bool there = u < inside, first = fresh && u == 0;
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
      at.next_row();
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
    Columns<parts<T>, R> result;
#pragma unroll
    for (int s = 0; s < R; ++s) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const double re = part_of(in[u][s][i], 0), x_re = part_of(x[u], 0);
        if constexpr (parts<T> == 1) {
          result.v[s][0][i] = re * x_re;
        } else {
          const double im = part_of(in[u][s][i], 1), x_im = part_of(x[u], 1);
          result.v[s][0][i] = re * x_re - im * x_im;
          result.v[s][1][i] = re * x_im + im * x_re;
        }
      }
    }
    return result;
  }

  /// out^T states over the lane's states, in double.
  __device__ void emitted(int u, const Columns<parts<T>, R>& states,
                          double (&sum)[parts<T>]) const {
#pragma unroll
    for (int p = 0; p < parts<T>; ++p) sum[p] = 0;
#pragma unroll
    for (int s = 0; s < R; ++s) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const double re = part_of(out[u][s][i], 0);
        if constexpr (parts<T> == 1) {
          sum[0] = fma(re, states.v[s][0][i], sum[0]);
        } else {
          const double im = part_of(out[u][s][i], 1);
          sum[0] += re * states.v[s][0][i] - im * states.v[s][1][i];
          sum[1] += re * states.v[s][1][i] + im * states.v[s][0][i];
        }
      }
    }
  }
};

/// Rows under way: as many as registers hold.
constexpr int dense_rows = 4;

/// Blocks of a kernel that a multiprocessor is to hold: the smallest types leave registers for two.
template <class T, int R>
inline constexpr int dense_residents = R == 1 && sizeof(T) <= 8 ? 2 : 1;

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

/// Four sums over the four lanes of a column: lane q gets the q-th.
__device__ inline double scattered_sum(double row0, double row1, double row2, double row3) {
  const int q = static_cast<int>(threadIdx.x) % 4;
  const bool high = q & 2, odd = q & 1;
  const double even_sum = (high ? row2 : row0) + shuffle_xor(0xffffffffu, high ? row0 : row2, 2);
  const double odd_sum = (high ? row3 : row1) + shuffle_xor(0xffffffffu, high ? row1 : row3, 2);
  return (odd ? odd_sum : even_sum) + shuffle_xor(0xffffffffu, odd ? even_sum : odd_sum, 1);
}

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
  if (triangle.states > 0) {
    const index_t group = chunk / group_chunks;
    if (group > 0) {
      state = load_column<P, R>(problem.group.state_of(problem.group_at(b, side, group), source));
    }
    if (chunk % group_chunks > 0) {
      const index_t at = problem.prefix_at(b, side, chunk);
      const auto step =
          ChunkStep<P, R>::load(problem.prefix.product_of(at), problem.prefix.exponent_of(at));
      state = step.times(state, load_column<P, R>(problem.prefix.state_of(at, source)));
    }
  }
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
