/// \file
/// What the kernels of batch.cu share: the state of the sweep, which batch_kernel.cuh explains, and how it
/// begins.
#pragma once

#include <climits>

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
__global__ void __launch_bounds__(threads) begin_sweep(const __grid_constant__ Sweep<T> p) {
  for (index_t unit = index_t{blockIdx.x} * threads + threadIdx.x; unit < p.units();
       unit += index_t{gridDim.x} * threads) {
    p.state[0][unit] = 0;
    p.found[unit] = {static_cast<double>(INFINITY), 0, 0, 0, 0, never, 0, -1, 0};
    if (unit % 2 == 0) p.stopped[unit / 2] = never;
  }
}

}  // namespace structmat::verify::batch
