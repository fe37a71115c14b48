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

#include <climits>

#include "core/shared.cuh"
#include "core/strided.cuh"
#include "dense/reflection.cuh"

namespace structmat::verify::batch {

using gpu::device_scalar_t;
using gpu::real_of_t;
using gpu::Strided;
using gpu::Tile;

inline constexpr int never = INT_MAX;
inline constexpr int threads = 256;
using Team = gpu::Team<threads>;

/// What is known of a matrix beforehand.
struct Inspected {
  double norm;        ///< of the matrix over 2^exponent
  int exponent;       ///< of its largest entry
  index_t broken;     ///< i n + j of the first entry that is not finite, or -1
  bool above, below;  ///< are there entries on that side of the diagonal?
};

/// What was found of a unit.
struct Found {
  double smallest_kept;  ///< infinite: there is none
  double largest_dropped;
  double excess;  ///< the largest value beyond the order asked for
  int order;
  int entries;       ///< of the profile
  int overflow;      ///< the step behind which there was no room for the state, or never
  int worst_number;  ///< values of the worst block
  index_t worst, worst_shorter;  ///< k of the worst block (-1: none); its shorter side
};

struct Step {
  int number;
  index_t begin;
  int size;
};

template <class T>
struct Sweep {
  using R = real_of_t<T>;

  Strided<const T, 3> m;
  const index_t* matrices;  ///< numbers in the batch
  const Inspected* inspected;
  index_t count;  ///< of matrices
  index_t n;
  int extra;         ///< 1: blocks contain the diagonal, and a triangular matrix has one side
  int asked[2];      ///< of the sides, or -1
  bool stops;        ///< at a violation
  double tolerance;  ///< relative to the norm, as `tail` is
  double tail;       ///< what a step may drop
  int room;          ///< columns of C that there is space for
  int most;          ///< rows of a step
  int tile_rows, tile_step;

  T* carried[2];         ///< (units, room, n), taking turns
  int* state[2];         ///< units
  T* r;                  ///< (units, columns, columns), by columns
  T* short_blocks;       ///< (units, most, columns, columns + extra), by columns
  T* tiles;              ///< one for each block of threads, where they lie in global memory
  R* sigma;              ///< (units, size of the step, columns)
  int* stopped;          ///< matrices: the step in which the order was exceeded, or never
  Found* found;          ///< units
  int* profile;          ///< (units, n)
  double* worst_values;  ///< (units, columns)

  __host__ __device__ index_t units() const { return 2 * count; }
  __host__ __device__ int columns() const { return room + most; }
  __host__ __device__ int block_rows() const { return columns() + extra; }

  /// Does the unit take part in the step?
  __device__ bool takes(index_t unit, int step) const {
    const index_t b = unit / 2;
    if (stopped[b] < step || found[unit].overflow < step) return false;
    if (extra == 0) return true;
    const bool lower = !inspected[b].above, upper = !lower && !inspected[b].below;
    return unit % 2 == 0 ? !upper : !lower;
  }
  __device__ T* column_of_c(int turn, index_t unit, int c) const {
    return carried[turn] + (unit * room + c) * n;
  }
};

/// Entries of a unit, over 2^exponent.
template <class T>
struct Entries {
  using R = real_of_t<T>;
  const T* data;
  index_t row, column;
  R half, rest;  ///< two factors, since the inverse of a subnormal number overflows

  __device__ Entries(const Sweep<T>& p, index_t unit) {
    const index_t b = unit / 2;
    const bool upper = unit % 2 == 1;
    data = &p.m(p.matrices[b], 0, 0);
    row = p.m.stride[upper ? 2 : 1];
    column = p.m.stride[upper ? 1 : 2];
    const int exponent = p.inspected[b].exponent;
    half = ldexp(R(1), -exponent / 2);
    rest = ldexp(R(1), -exponent + exponent / 2);
  }
  __device__ T operator()(index_t i, index_t j) const {
    return rest * (half * data[i * row + j * column]);
  }
};

template <class T>
struct InspectProblem {
  Strided<const T, 3> m;
  index_t batch, n;
  Inspected* inspected;
};

/// A block for each matrix.
template <class T>
__global__ void __launch_bounds__(threads)
    inspect_matrices(const __grid_constant__ InspectProblem<T> p) {
  __shared__ double scratch[32];
  __shared__ index_t broken_of[threads];
  const bool along_row = abs(p.m.stride[2]) <= abs(p.m.stride[1]);
  const auto visit = [&](index_t b, const auto& each) {
    for (index_t at = threadIdx.x; at < p.n * p.n; at += threads) {
      const index_t major = at / p.n, minor = at - major * p.n;
      const index_t i = along_row ? major : minor, j = along_row ? minor : major;
      each(i, j, p.m(b, i, j));
    }
  };
  for (index_t b = blockIdx.x; b < p.batch; b += gridDim.x) {
    double largest = 0;
    index_t broken = -1;
    int above = 0, below = 0;
    visit(b, [&](index_t i, index_t j, T value) {
      double size = 0;
      if constexpr (gpu::is_complex<T>) {
        const double re = fabs(static_cast<double>(value.re));
        const double im = fabs(static_cast<double>(value.im));
        size = re + im <= INFINITY ? max(re, im) : static_cast<double>(NAN);
      } else {
        size = fabs(static_cast<double>(value));
      }
      if (size < static_cast<double>(INFINITY)) {
        largest = max(largest, size);
      } else if (broken < 0 || i * p.n + j < broken) {
        broken = i * p.n + j;
      }
      above |= static_cast<int>(i < j && size != 0);
      below |= static_cast<int>(i > j && size != 0);
    });
    __syncthreads();
    broken_of[threadIdx.x] = broken;
    largest = Team::max(largest, scratch);
    above = __syncthreads_or(above);
    below = __syncthreads_or(below);
    const int exponent = largest > 0 ? ilogb(largest) : 0;
    const double half = ldexp(1.0, -exponent / 2), rest = ldexp(1.0, -exponent + exponent / 2);
    double squares = 0;
    visit(b, [&](index_t, index_t, T value) {
      if constexpr (gpu::is_complex<T>) {
        const double re = rest * (half * static_cast<double>(value.re));
        const double im = rest * (half * static_cast<double>(value.im));
        squares += re * re + im * im;
      } else {
        const double scaled = rest * (half * static_cast<double>(value));
        squares += scaled * scaled;
      }
    });
    squares = gpu::block_sum(squares, scratch);
    if (threadIdx.x == 0) {
      for (const index_t other : broken_of) {
        if (other >= 0 && (broken < 0 || other < broken)) broken = other;
      }
      p.inspected[b] = {sqrt(squares), exponent, broken, above != 0, below != 0};
    }
  }
}

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

/// A warp for each unit takes the values of the step into its report.
template <class T>
__global__ void __launch_bounds__(32)
    count_values(const __grid_constant__ Sweep<T> p, const __grid_constant__ Step step) {
  const int lane = static_cast<int>(threadIdx.x), columns = p.columns();
  for (index_t unit = blockIdx.x; unit < p.units(); unit += gridDim.x) {
    if (!p.takes(unit, step.number)) continue;
    const int asked = p.asked[unit % 2];
    const double norm = p.inspected[unit / 2].norm;
    const int state = p.state[step.number % 2][unit];
    // Lane t has the block of k = begin + t.
    const index_t k = step.begin + lane, own_columns = k + p.extra;
    const bool real = lane < step.size && own_columns > 0;
    const index_t shorter = p.n - k < own_columns ? p.n - k : own_columns;
    const int used = state + lane + p.extra;
    const int number = real ? static_cast<int>(shorter < used ? shorter : used) : 0;
    const real_of_t<T>* const sigma =
        p.sigma + (unit * step.size + (lane < step.size ? lane : 0)) * columns;
    const auto relative = [&](int l) {
      return l < number && norm > 0 ? static_cast<double>(sigma[l]) / norm : 0.0;
    };
    int rank = 0;
    while (rank < number && relative(rank) > p.tolerance) ++rank;
    if (real) p.profile[unit * p.n + k - 1 + p.extra] = rank;

    Found found = p.found[unit];
    const double kept = rank > 0 ? relative(rank - 1) : static_cast<double>(INFINITY);
    found.smallest_kept = min(found.smallest_kept, -gpu::warp_max(-kept));
    found.largest_dropped = max(found.largest_dropped, gpu::warp_max(relative(rank)));
    const double beyond = asked >= 0 ? relative(asked) : 0;
    int worst = -1;
    for (int t = 0; t < step.size; ++t) {
      const int rank_t = __shfl_sync(0xffffffffu, rank, t);
      const double beyond_t = __shfl_sync(0xffffffffu, beyond, t);
      const long long shorter_t = __shfl_sync(0xffffffffu, static_cast<long long>(shorter), t);
      if (!__shfl_sync(0xffffffffu, static_cast<int>(real), t)) continue;
      const bool worse = found.worst < 0 ||
                         (asked >= 0 ? beyond_t > found.excess
                                     : rank_t > found.order || (rank_t == found.order &&
                                                                shorter_t > found.worst_shorter));
      if (worse) worst = t, found.worst = step.begin + t, found.worst_shorter = shorter_t;
      found.excess = max(found.excess, beyond_t);
      found.order = max(found.order, rank_t);
    }
    if (worst >= 0) {
      found.worst_number = __shfl_sync(0xffffffffu, number, worst);
      for (int l = lane; l < found.worst_number; l += 32) {
        const double value = static_cast<double>(p.sigma[(unit * step.size + worst) * columns + l]);
        p.worst_values[unit * columns + l] = norm > 0 ? value / norm : 0;
      }
    }
    found.entries = static_cast<int>(step.begin) + step.size - 1 + p.extra;
    __syncwarp();
    if (lane == 0) {
      p.found[unit] = found;
      if (p.stops && asked >= 0 && found.order > asked) {
        atomicMin(&p.stopped[unit / 2], step.number);
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(threads) begin_sweep(const __grid_constant__ Sweep<T> p) {
  for (index_t unit = index_t{blockIdx.x} * threads + threadIdx.x; unit < p.units();
       unit += index_t{gridDim.x} * threads) {
    p.state[0][unit] = 0;
    p.found[unit] = {static_cast<double>(INFINITY), 0, 0, 0, 0, never, 0, -1, 0};
    if (unit % 2 == 0) p.stopped[unit / 2] = never;
  }
}

}  // namespace structmat::verify::batch
