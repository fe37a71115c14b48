/// \file
/// The sweep of batch.cu, one step of rows at a time. A unit is one triangle of one matrix; the upper
/// one is the lower one of the transpose.
///
/// Before rows begin to end the unit carries C, (n, state): M(begin:n, 0:begin) = C W, W of
/// orthonormal rows. With X = [C, M(:, begin:end)] below `end`, q columns:
///   R       the R factor of X, which the blocks of this step need;
///   Q       (q, state'): R = R Q Q^H but for a part below the tolerance;
///   C' = X Q.
/// M(k:n, 0:k), k = begin + t, has the singular values of [C(k:end), M(k:end, begin:k); R(:, 0:state +
/// t)], which is called the short block.
#pragma once

#include "core/shared.cuh"
#include "verify/batch_sweep.cuh"

namespace structmat::verify::batch {

/// X(begin:begin + count, :) to rows `top` on of the tile.
template <class T>
__device__ void load_rows(const Sweep<T>& p, const Step& step, index_t unit, int state,
                          index_t begin, int count, const Tile<T>& tile, int top) {
  for (int at = Team::thread(); at < count * state; at += threads) {
    const int c = at / count, i = at - c * count;
    tile(top + i, c) = p.column_of_c(step.number % 2, unit, c)[begin + i];
  }
  const Entries<T> m(p, unit);
  const bool along_row = abs(m.column) < abs(m.row);
  const int minor = along_row ? step.size : count;
  for (int at = Team::thread(); at < count * step.size; at += threads) {
    const int major = at / minor, rest = at - major * minor;
    const int i = along_row ? major : rest, c = along_row ? rest : major;
    tile(top + i, state + c) = m(begin + i, step.begin + c);
  }
}

/// The R factor of X to the tile's leading rows.
template <class T>
__device__ void factor(const Sweep<T>& p, const Step& step, index_t unit, int state,
                       const Tile<T>& tile, T* diagonal) {
  const int q = state + step.size;
  const index_t end = step.begin + step.size;
  const auto rows_from = [&](index_t begin, int limit) {
    return static_cast<int>(p.n - begin < limit ? p.n - begin : limit);
  };
  if (p.n - end < q) {
    // Zeros for the rows that are not there.
    const int count = rows_from(end, q);
    load_rows(p, step, unit, state, end, count, tile, 0);
    for (int at = Team::thread(); at < q * (q - count); at += threads) {
      const int c = at / (q - count);
      tile(count + at - c * (q - count), c) = T(0);
    }
    gpu::triangularise<Team>(tile, q, q, 0, diagonal);
    return;
  }
  for (index_t begin = end; begin < p.n;) {
    const int top = begin == end ? 0 : q;
    const int count = rows_from(begin, min(p.tile_rows - top, gpu::longest_tail + (top == 0)));
    load_rows(p, step, unit, state, begin, count, tile, top);
    gpu::triangularise<Team>(tile, top + count, q, top, diagonal);
    begin += count;
  }
}

/// Reflections from the right take the tile's leading q rows, in an order of pivots, to lower
/// triangular form, until what is left is at most `tail`. The next q rows become their product, whose
/// leading columns are Q. Returns how many of those there are, room + 1 where they are too many.
template <class T>
__device__ int reveal(const Tile<T>& tile, int q, int room, double tail, real_of_t<T>* squares) {
  using R = real_of_t<T>;
  for (int at = Team::thread(); at < q * q; at += threads) {
    const int c = at / q, i = at - c * q;
    tile(q + i, c) = T(static_cast<R>(i == c));
  }
  for (int l = 0; l < q; ++l) {
    Team::sync();
    for (int i = l + Team::thread(); i < q; i += threads) {
      R sum = 0;
      for (int c = l; c < q; ++c) sum += gpu::square(tile(i, c));
      squares[i] = sum;
    }
    Team::sync();
    // Every warp for itself.
    R left = 0, best = -1;
    int pivot = l;
    for (int i = l + Team::lane(); i < q; i += 32) {
      left += squares[i];
      if (squares[i] > best) best = squares[i], pivot = i;
    }
    left = gpu::warp_sum(left);
    const R largest = gpu::warp_max(best);
    pivot = -gpu::warp_max(best == largest ? -pivot : -q);
    if (!(sqrt(static_cast<double>(left)) > tail)) return l;
    if (l == room) return room + 1;
    for (int c = l + Team::thread(); c < q; c += threads) {
      const T own = tile(l, c);
      tile(l, c) = tile(pivot, c);
      tile(pivot, c) = own;
    }
    Team::sync();
    gpu::reflect<Team>(
        gpu::Source<T>{&tile(l, l), &tile(l, l + 1), tile.step, q - l - 1},
        gpu::Targets<T>{&tile(l + 1, l), &tile(l + 1, l + 1), tile.step, 1, 2 * q - l - 1});
  }
  return q;
}

/// C' = X Q, Q in the tile's rows q on.
template <class T>
__device__ void multiply(const Sweep<T>& p, const Step& step, index_t unit, int state, int kept,
                         const Tile<T>& tile) {
  constexpr int at_once = 8;
  const int q = state + step.size;
  const Entries<T> m(p, unit);
  for (index_t i = step.begin + step.size + Team::thread(); i < p.n; i += threads) {
    for (int first = 0; first < kept; first += at_once) {
      T sum[at_once] = {};
      const auto add = [&](int c, T x) {
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          if (first + u < kept) sum[u] = gpu::multiply_add(x, tile(q + c, first + u), sum[u]);
        }
      };
      for (int c = 0; c < state; ++c) add(c, p.column_of_c(step.number % 2, unit, c)[i]);
      for (int c = 0; c < step.size; ++c) add(state + c, m(i, step.begin + c));
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (first + u < kept) p.column_of_c((step.number + 1) % 2, unit, first + u)[i] = sum[u];
      }
    }
  }
}

template <class T>
struct StepMemory {
  using R = real_of_t<T>;
  T* diagonal;  // columns
  R* squares;   // columns
  T* tile;

  __device__ StepMemory(std::byte* memory, int columns)
      : diagonal(reinterpret_cast<T*>(memory)),
        squares(reinterpret_cast<R*>(diagonal + columns)),
        tile(reinterpret_cast<T*>(memory + tile_offset(columns))) {}
  static __host__ __device__ std::size_t tile_offset(int columns) {
    return (columns * (sizeof(T) + sizeof(R)) + 15) / 16 * 16;
  }
};

/// A block for each unit. Outside: tiles lie in global memory.
template <class T, bool Outside>
__global__ void __launch_bounds__(threads)
    take_step(const __grid_constant__ Sweep<T> p, const __grid_constant__ Step step) {
  const StepMemory<T> memory(gpu::dynamic_shared<std::byte>(), p.columns());
  Tile<T> tile{memory.tile, p.tile_step};
  if constexpr (Outside) tile.data = p.tiles + index_t{blockIdx.x} * p.tile_step * p.columns();
  for (index_t unit = blockIdx.x; unit < p.units(); unit += gridDim.x) {
    if (!p.takes(unit, step.number)) continue;
    const int state = p.state[step.number % 2][unit], q = state + step.size;
    Team::sync();
    factor(p, step, unit, state, tile, memory.diagonal);
    T* const r = p.r + unit * p.columns() * p.columns();
    for (int at = Team::thread(); at < q * q; at += threads) {
      const int c = at / q, i = at - c * q;
      r[c * p.columns() + i] = tile(i, c);
    }
    const int kept = reveal(tile, q, p.room, p.tail * p.inspected[unit / 2].norm, memory.squares);
    Team::sync();
    if (kept <= p.room) multiply(p, step, unit, state, kept, tile);
    if (Team::thread() == 0) {
      p.state[(step.number + 1) % 2][unit] = kept;
      if (kept > p.room) p.found[unit].overflow = step.number;
    }
  }
}

/// Short blocks of the step; zeros for units that do not take part, which costs the next kernel least.
template <class T>
__global__ void __launch_bounds__(threads)
    fill_short_blocks(const __grid_constant__ Sweep<T> p, const __grid_constant__ Step step) {
  const int rows = p.block_rows(), columns = p.columns();
  for (index_t block = blockIdx.x; block < p.units() * step.size; block += gridDim.x) {
    const index_t unit = block / step.size;
    const int t = static_cast<int>(block - unit * step.size);
    const bool takes = p.takes(unit, step.number);
    const int state = takes ? p.state[step.number % 2][unit] : 0;
    const int used = takes ? state + t + p.extra : 0, top = step.size - t;
    const Entries<T> m(p, unit);
    const T* const r = p.r + unit * columns * columns;
    T* const to = p.short_blocks + block * rows * columns;
    for (int at = threadIdx.x; at < rows * columns; at += threads) {
      const int c = at / rows, i = at - c * rows;
      T value = 0;
      if (c < used && i < top) {
        const index_t row = step.begin + t + i;
        value = c < state ? p.column_of_c(step.number % 2, unit, c)[row]
                          : m(row, step.begin + c - state);
      } else if (c < used && i - top <= c) {
        value = r[c * columns + i - top];
      }
      to[at] = value;
    }
  }
}

}  // namespace structmat::verify::batch
