/// \file
/// Sweeps with a unit triangle of a factor (ldl_sweep.hpp on the host) in chunks:
///
///   solve:     y_i = x_i - out_i^T s;  s := a_i s + in_i y_i
///   multiply:  y_i = x_i + out_i^T s;  s := a_i s + in_i x_i
///
/// A lane carries the state of one column. A chunk that begins with s in front of it ends in
/// c + Phi s: for every column it is swept from s = 0 to get c, and, with x = 0, from the unit vectors
/// to get the columns of Phi. So its element in the tree is the r x (r + k) matrix (Phi, c), by columns.
#pragma once

#include "core/strided.cuh"
#include "quasiseparable/chunk_tree.cuh"
#include "quasiseparable/lane_columns.cuh"

namespace structmat::quasiseparable::device {

enum class Scaling { none, divide, square_root };

/// Generators, d, x and y in the order of the sweep.
template <class T>
struct SweepProblem {
  using Real = gpu::real_of_t<T>;

  gpu::Strided<const T, 3> out, in;
  gpu::Strided<const T, 4> a;  ///< the last stride is 0 unless transitions are dense
  gpu::Strided<const Real, 2> d;
  gpu::Strided<const T, 3> x;
  gpu::Strided<T, 3> y;
  index_t n, batch, order, columns, length, chunks;
  bool solve, conjugated;
  Scaling before, after;
  T* elements;  ///< (batch, chunks, r + k, r)
};

template <bool Dense, int R>
inline constexpr int swept_rows = R == 0  ? 1
                                  : Dense ? 2
                                          : 4;

/// What a lane reads of consecutive rows: its elements of the generators, and x and d of its column.
template <class T, bool Dense, int R>
struct SweepRows {
  using Real = gpu::real_of_t<T>;
  static constexpr int rows = swept_rows<Dense, R>;
  static constexpr int row_of_a = Dense && R > 0 ? R : 1;

  T out[rows], in[rows], a[rows][row_of_a];
  T x[rows];
  Real d[rows];

  /// column < 0: no x.
  __device__ void load(const SweepProblem<T>& problem, index_t b, index_t i, index_t end,
                       index_t column) {
    const int lane = Group<R>::lane();
    const bool scaled = problem.before != Scaling::none || problem.after != Scaling::none;
#pragma unroll
    for (int u = 0; u < rows; ++u) {
      const index_t row = i + u;
      const bool real = row < end && lane < problem.order;
      const bool first = row == 0, last = row == problem.n - 1;
      out[u] = real && !first ? problem.out(b, row, lane) : T(0);
      in[u] = real && !last ? problem.in(b, row, lane) : T(0);
      if constexpr (!Dense || R > 0) {
#pragma unroll
        for (int k = 0; k < row_of_a; ++k) {
          const bool wanted = real && !first && !last && (!Dense || k < problem.order);
          a[u][k] =
              wanted ? (Dense ? problem.a(b, row, k, lane) : problem.a(b, row, lane, 0)) : T(0);
        }
      }
      x[u] = row < end && column >= 0 ? problem.x(b, row, column) : T(0);
      d[u] = row < end && scaled ? problem.d(b, row) : Real(1);
    }
  }

  __device__ void share(const SweepProblem<T>& problem, index_t b, index_t i, T* out_to, T* in_to,
                        T* a_to) const {
    const int lane = Group<R>::lane(), size = padded_order<R>(problem.order);
    if (lane >= size) return;
#pragma unroll
    for (int u = 0; u < rows; ++u) {
      out_to[u * size + lane] = out[u];
      in_to[u * size + lane] = in[u];
      if constexpr (!Dense) {
        a_to[u * size + lane] = a[u][0];
      } else if constexpr (R > 0) {
#pragma unroll
        for (int k = 0; k < R; ++k) a_to[(u * R + k) * R + lane] = a[u][k];
      } else {
        const bool wanted = i > 0 && i < problem.n - 1;
        for (int k = 0; k < size; ++k) {
          a_to[k * size + lane] = wanted ? problem.a(b, i, k, lane) : T(0);
        }
      }
    }
  }
};

/// Shared memory of a group of sweep_chunks.
template <class T, bool Dense, int R>
__host__ __device__ constexpr index_t sweep_elements(index_t order) {
  const index_t r = padded_order<R>(order), rows = swept_rows<Dense, R>;
  return group_stride<T>(rows * (2 * r + (Dense ? r * r : r)) +
                         (1 + Dense) * Column<T, R>::elements(order));
}

/// Columns [tile, tile + lanes) of one chunk; Summary: of (unit states, x), for its element.
template <class T, bool Dense, int R, bool Summary>
__device__ __forceinline__ void sweep_chunk(const SweepProblem<T>& problem, T* shared, index_t b,
                                            index_t chunk, index_t tile) {
  using Lanes = Group<R>;
  constexpr int rows = swept_rows<Dense, R>;
  const int size = padded_order<R>(problem.order), lane = Lanes::lane();
  T *const out = shared, *const in = out + rows * size, *const a = in + rows * size;
  T* columns = a + rows * (Dense ? size * size : size);
  Column<T, R> state(columns, problem.order), next(columns, Dense ? problem.order : 0);

  const index_t states = problem.order, all = states + problem.columns;
  const index_t in_element = Summary ? tile + lane : states + tile + lane;
  const index_t column = in_element < all ? in_element - states : -1;
  T* const element = problem.elements + ((b * problem.chunks + chunk) * all + in_element) * states;
#pragma unroll
  for (int k = 0; k < padded_order<R>(size); ++k) {
    if constexpr (Summary) {
      state[k] = T(k == in_element);
    } else {
      state[k] = chunk > 0 && column >= 0 && k < states ? element[k] : T(0);
    }
  }
  const index_t begin = chunk * problem.length;
  const index_t end = min(begin + problem.length, problem.n);
  SweepRows<T, Dense, R> ahead;
  ahead.load(problem, b, begin, end, column);
  for (index_t i = begin; i < end; i += rows) {
    Lanes::sync();
    ahead.share(problem, b, i, out, in, a);
    const SweepRows<T, Dense, R> now = ahead;
    if (i + rows < end) ahead.load(problem, b, i + rows, end, column);
    Lanes::sync();
#pragma unroll
    for (int u = 0; u < rows; ++u) {
      if (i + u >= end) break;
      T x = gpu::conjugate_if(problem.conjugated, now.x[u]);
      if (problem.before == Scaling::divide) x = x * (1 / now.d[u]);
      if (problem.before == Scaling::square_root) x = x * sqrt(now.d[u]);
      T y = x;
      if (problem.solve || !Summary) {
        const T sum = dot<R, T>(size, Broadcast<T, R>(out + u * size), state);
        y = problem.solve ? x - sum : x + sum;
      }
      const T fed = problem.solve ? y : x;
      const Broadcast<T, R> in_row(in + u * size);
      if constexpr (Dense) {
#pragma unroll
        for (int k = 0; k < padded_order<R>(size); ++k) {
          const T moved = dot<R, T>(size, Broadcast<T, R>(a + (u * size + k) * size), state);
          next[k] = gpu::multiply_add(in_row[k], fed, moved);
        }
#pragma unroll
        for (int k = 0; k < padded_order<R>(size); ++k) state[k] = next[k];
      } else {
        const Broadcast<T, R> a_row(a + u * size);
#pragma unroll
        for (int k = 0; k < padded_order<R>(size); ++k) {
          state[k] = gpu::multiply_add(in_row[k], fed, a_row[k] * state[k]);
        }
      }
      if (!Summary && column >= 0) {
        if (problem.after == Scaling::square_root) y = y * sqrt(now.d[u]);
        problem.y(b, i + u, column) = gpu::conjugate_if(problem.conjugated, y);
      }
    }
  }
  if (Summary && in_element < all) {
#pragma unroll
    for (int k = 0; k < padded_order<R>(size); ++k) {
      if (k < states) element[k] = state[k];
    }
  }
}

/// Work of a group: a tile of columns of a chunk; Summary: of all chunks but the last one.
template <int R>
__host__ __device__ index_t column_tiles(index_t columns) {
  return (columns + Group<R>::lanes - 1) / Group<R>::lanes;
}

template <class T, bool Dense, int R, bool Summary>
__global__ void __launch_bounds__(Group<R>::block)
    sweep_chunks(const __grid_constant__ SweepProblem<T> problem) {
  T* const shared =
      gpu::dynamic_shared<T>() + Group<R>::number() * sweep_elements<T, Dense, R>(problem.order);
  const index_t tiles = column_tiles<R>(problem.columns + (Summary ? problem.order : 0));
  const index_t chunks = problem.chunks - Summary;
  for (index_t unit = Group<R>::first(); unit < problem.batch * chunks * tiles;
       unit += Group<R>::step()) {
    const index_t rest = unit / tiles, b = rest / chunks;
    sweep_chunk<T, Dense, R, Summary>(problem, shared, b, rest - b * chunks,
                                      (unit - rest * tiles) * Group<R>::lanes);
    Group<R>::sync();
  }
}

template <class T>
struct SweepLevel {
  Level<T> level;
  index_t batch, order, columns;
};

/// Shared memory of a group for the tree: a matrix Phi by rows, and columns.
template <class T, int R>
__host__ __device__ constexpr index_t sweep_tree_elements(index_t order) {
  const index_t r = padded_order<R>(order);
  return group_stride<T>(r * r + 2 * Column<T, R>::elements(order));
}

/// The columns that the lanes of a group carry through the elements of one parent.
template <class T, int R>
class SweptColumns {
 public:
  using Lanes = Group<R>;

  __device__ SweptColumns(int order, T* shared)
      : order_(order),
        size_(padded_order<R>(order)),
        transfer_(shared),
        columns_(shared + size_ * size_),
        state_(columns_, order),
        next_(columns_, order) {}

  /// `from`: a column, or null for zero.
  __device__ void start(const T* from) {
#pragma unroll
    for (int k = 0; k < padded_order<R>(size_); ++k) {
      state_[k] = from != nullptr && k < order_ ? from[k] : T(0);
    }
  }
  __device__ void store(T* to) const {
#pragma unroll
    for (int k = 0; k < padded_order<R>(size_); ++k) {
      if (k < order_) to[k] = state_[k];
    }
  }

  /// Finds Phi state + c, which take() makes the state. All lanes of the group take part; c may be
  /// null.
  __device__ __forceinline__ void append(const T* element, const T* c) {
    Lanes::sync();
    for (int e = Lanes::lane(); e < size_ * size_; e += Lanes::lanes) {
      const int k = e / size_, l = e % size_;
      transfer_[e] = k < order_ && l < order_ ? element[l * order_ + k] : T(0);
    }
    Lanes::sync();
#pragma unroll
    for (int k = 0; k < padded_order<R>(size_); ++k) {
      const T own = c != nullptr && k < order_ ? c[k] : T(0);
      next_[k] = own + dot<R, T>(size_, Broadcast<T, R>(transfer_ + k * size_), state_);
    }
  }
  __device__ __forceinline__ void take() {
#pragma unroll
    for (int k = 0; k < padded_order<R>(size_); ++k) state_[k] = next_[k];
  }

 private:
  int order_, size_;
  T *transfer_, *columns_;
  Column<T, R> state_, next_;
};

/// Parents from their children; the last parent, behind which nothing comes, is left out.
template <class T, int R>
__global__ void __launch_bounds__(Group<R>::block)
    combine_sweeps(const __grid_constant__ SweepLevel<T> problem) {
  const Level<T>& level = problem.level;
  const index_t r = problem.order, all = r + problem.columns, tiles = column_tiles<R>(all);
  const index_t parents = level.parent_count - 1;
  T* const shared = gpu::dynamic_shared<T>() + Group<R>::number() * sweep_tree_elements<T, R>(r);
  for (index_t unit = Group<R>::first(); unit < problem.batch * parents * tiles;
       unit += Group<R>::step()) {
    const index_t rest = unit / tiles, b = rest / parents, parent = rest - b * parents;
    const index_t column = (unit - rest * tiles) * Group<R>::lanes + Group<R>::lane();
    const T* child = level.children + (b * level.child_count + parent * level.radix) * all * r;
    SweptColumns<T, R> swept(static_cast<int>(r), shared);
    swept.start(column < all ? child + column * r : nullptr);
    for (index_t j = 1; j < level.radix; ++j) {
      child += all * r;
      swept.append(child, column >= r && column < all ? child + column * r : nullptr);
      swept.take();
    }
    if (column < all) {
      swept.store(level.parents + ((b * level.parent_count + parent) * all + column) * r);
    }
    Group<R>::sync();
  }
}

/// The states in front of children, which take the place of their c, from those of their parents.
template <class T, int R>
__global__ void __launch_bounds__(Group<R>::block)
    distribute_sweeps(const __grid_constant__ SweepLevel<T> problem) {
  const Level<T>& level = problem.level;
  const index_t r = problem.order, all = r + problem.columns;
  const index_t tiles = column_tiles<R>(problem.columns);
  T* const shared = gpu::dynamic_shared<T>() + Group<R>::number() * sweep_tree_elements<T, R>(r);
  for (index_t unit = Group<R>::first(); unit < problem.batch * level.parent_count * tiles;
       unit += Group<R>::step()) {
    const index_t rest = unit / tiles, b = rest / level.parent_count;
    const index_t parent = rest - b * level.parent_count;
    const index_t column = r + (unit - rest * tiles) * Group<R>::lanes + Group<R>::lane();
    const index_t begin = parent * level.radix, end = min(begin + level.radix, level.child_count);
    const bool own = column < all;
    SweptColumns<T, R> swept(static_cast<int>(r), shared);
    swept.start(own && level.parents != nullptr ? level.parents + (rest * all + column) * r
                                                : nullptr);
    for (index_t j = begin; j < end; ++j) {
      T* const child = level.children + (b * level.child_count + j) * all * r;
      T* const c = own ? child + column * r : nullptr;
      if (j + 1 < end) swept.append(child, c);
      if (own) swept.store(c);
      if (j + 1 < end) swept.take();
    }
    Group<R>::sync();
  }
}

}  // namespace structmat::quasiseparable::device
