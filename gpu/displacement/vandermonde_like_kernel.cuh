/// \file
/// Kernels around the products of Vandermonde-like matrices, and their recurrence. Rows stand in the order
/// of the sets of nodes: those inside the unit circle first.
#pragma once

#include "core/strided.cuh"
#include "vandermonde/geometric.cuh"

namespace structmat::displacement::device {

inline constexpr int threads = 64;

/// The rows of X as kernels see them.
template <class T>
struct Rows {
  const index_t* place;  ///< the row of X where row p stands
  const T *weights, *bases;
  const T* g;  ///< (m, r)
  index_t count, inside, order;
};

template <class T>
struct Combination {
  Rows<T> rows;
  const T* values;  ///< (m, r, k)
  gpu::Strided<T, 3> y;
  index_t k;
};

/// y(place_p) := weight_p sum_l g_pl values_pl
template <class T>
__global__ void __launch_bounds__(threads) combine(const __grid_constant__ Combination<T> p) {
  const index_t r = p.rows.order;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.rows.count * p.k;
       at += index_t{gridDim.x} * threads) {
    const index_t row = at / p.k, c = at - row * p.k;
    T sum(0);
    for (index_t l = 0; l < r; ++l) {
      sum = gpu::multiply_add(p.rows.g[row * r + l], p.values[(row * r + l) * p.k + c], sum);
    }
    p.y(0, p.rows.place[row], c) = p.rows.weights[row] * sum;
  }
}

template <class T>
struct Distribution {
  Rows<T> rows;
  gpu::Strided<const T, 3> x;
  T* values;  ///< (m, r, k)
  index_t k;
  bool conjugated;
};

/// values_pl := g_pl weight_p x(place_p), or with conjugates of g and weight
template <class T>
__global__ void __launch_bounds__(threads) distribute(const __grid_constant__ Distribution<T> p) {
  const index_t r = p.rows.order;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.rows.count * p.k;
       at += index_t{gridDim.x} * threads) {
    const index_t row = at / p.k, c = at - row * p.k;
    const T weighted =
        gpu::conjugate_if(p.conjugated, p.rows.weights[row]) * p.x(0, p.rows.place[row], c);
    for (index_t l = 0; l < r; ++l) {
      p.values[(row * r + l) * p.k + c] =
          gpu::conjugate_if(p.conjugated, p.rows.g[row * r + l]) * weighted;
    }
  }
}

/// x_i X_ij - X_{i,j+1} = M_ij, with corner X_i0 for X_in. Rows of nodes inside run forwards from
///   X_i0 = weight sum_j x^{n-1-j} M_ij,
/// others, with y = 1 / x, backwards from
///   X_{i,n-1} = weight (corner sum_{j<n-1} y^{j+1} M_ij + M_{i,n-1}).
/// Columns are cut into chunks (outside: the first n - 1 of them): sums over each, from these what each
/// begins with, and then all chunks at once.
template <class T>
struct Recurrence {
  Rows<T> rows;
  const T* h;  ///< (n, r)
  gpu::Strided<T, 3> dense;
  T* chunks;  ///< (chunks, m): sums, then what a chunk begins with
  index_t cols;
  T corner;
  bool by_rows;  ///< the column index changes fastest
};

inline constexpr index_t chunk_columns = 128;
__host__ __device__ inline index_t chunks_of(index_t n) {
  return (n + chunk_columns - 1) / chunk_columns;
}

/// One row of the recurrence.
template <class T>
struct RowRun {
  const T *g, *h;
  T base;
  index_t order;
  bool inside;

  __device__ RowRun(const Recurrence<T>& p, index_t row)
      : g(p.rows.g + row * p.rows.order),
        h(p.h),
        base(p.rows.bases[row]),
        order(p.rows.order),
        inside(row < p.rows.inside) {}

  __device__ T image(index_t j) const {
    T sum(0);
    for (index_t l = 0; l < order; ++l) sum = gpu::multiply_add(g[l], h[j * order + l], sum);
    return sum;
  }
  /// The columns of a chunk.
  __device__ static index_t begin(index_t chunk) { return chunk * chunk_columns; }
  __device__ index_t end(index_t chunk, index_t cols) const {
    return min(begin(chunk) + chunk_columns, inside ? cols : cols - 1);
  }
};

template <class T>
__global__ void __launch_bounds__(threads) sum_chunks(const __grid_constant__ Recurrence<T> p) {
  const index_t m = p.rows.count;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < m * chunks_of(p.cols);
       at += index_t{gridDim.x} * threads) {
    const index_t chunk = at / m;
    const RowRun<T> row(p, at - chunk * m);
    const index_t begin = row.begin(chunk), end = row.end(chunk, p.cols);
    T sum(0);
    if (row.inside) {
#pragma unroll 4
      for (index_t j = begin; j < end; ++j) sum = gpu::multiply_add(row.base, sum, row.image(j));
    } else {
#pragma unroll 4
      for (index_t j = end - 1; j >= begin; --j) sum = row.base * (sum + row.image(j));
    }
    p.chunks[at] = sum;
  }
}

template <class T>
__global__ void __launch_bounds__(threads) begin_chunks(const __grid_constant__ Recurrence<T> p) {
  const index_t m = p.rows.count, chunks = chunks_of(p.cols);
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < m;
       at += index_t{gridDim.x} * threads) {
    const RowRun<T> row(p, at);
    const auto across = [&](index_t chunk) {
      return gpu::power(row.base, max(row.end(chunk, p.cols) - row.begin(chunk), index_t{0}));
    };
    T* const own = p.chunks + at;
    T value(0);
    if (row.inside) {
      for (index_t c = 0; c < chunks; ++c) value = gpu::multiply_add(across(c), value, own[c * m]);
      value = p.rows.weights[at] * value;
      for (index_t c = 0; c < chunks; ++c) {
        const T sum = own[c * m];
        own[c * m] = value;
        value = across(c) * value - sum;
      }
    } else {
      for (index_t c = chunks - 1; c >= 0; --c)
        value = gpu::multiply_add(across(c), value, own[c * m]);
      value = p.rows.weights[at] * (p.corner * value + row.image(p.cols - 1));
      for (index_t c = chunks - 1; c >= 0; --c) {
        const T sum = own[c * m];
        own[c * m] = value;
        value = gpu::multiply_add(across(c), value, sum);
      }
    }
  }
}

/// A warp has 32 rows, all inside or all outside, of one chunk; through a tile in shared memory, where
/// neighbours then write neighbours of a row.
template <class T>
__global__ void __launch_bounds__(threads) run_chunks(const __grid_constant__ Recurrence<T> p) {
  constexpr int lanes = 32, warps = threads / lanes;
  constexpr unsigned all = 0xffffffffu;
  __shared__ T tiles[warps * lanes * (lanes + 1)];
  const int lane = static_cast<int>(threadIdx.x) % lanes,
            warp = static_cast<int>(threadIdx.x) / lanes;
  T* const tile = tiles + warp * lanes * (lanes + 1);
  const index_t m = p.rows.count, n = p.cols, chunks = chunks_of(n);
  const index_t inside = (p.rows.inside + lanes - 1) / lanes,
                groups = inside + (m - p.rows.inside + lanes - 1) / lanes;
  for (index_t unit = index_t{blockIdx.x} * warps + warp; unit < groups * chunks;
       unit += index_t{gridDim.x} * warps) {
    const index_t chunk = unit / groups, group = unit - chunk * groups;
    const bool in = group < inside;
    const index_t first = in ? group * lanes : p.rows.inside + (group - inside) * lanes;
    const int rows = static_cast<int>(min((in ? p.rows.inside : m) - first, index_t{lanes}));
    const RowRun<T> row(p, first + min(lane, rows - 1));
    const index_t begin = row.begin(chunk), end = row.end(chunk, n);
    T value = p.chunks[chunk * m + first + min(lane, rows - 1)];
    const index_t place = p.rows.place[first + min(lane, rows - 1)];
    // The number that rows outside begin with.
    if (!in && chunk == chunks - 1 && lane < rows) p.dense(0, place, n - 1) = value;
    for (index_t done = begin; done < end; done += lanes) {
      const int width = static_cast<int>(min(end - done, index_t{lanes}));
      const index_t left = in ? done : end - (done - begin) - width;
#pragma unroll 4
      for (int q = 0; q < width; ++q) {
        const int at = in ? q : width - 1 - q;
        const T image = row.image(left + at);
        if (!in) value = row.base * (value + image);
        if (p.by_rows)
          tile[lane * (lanes + 1) + at] = value;
        else if (lane < rows)
          p.dense(0, place, left + at) = value;
        if (in) value = row.base * value - image;
      }
      if (!p.by_rows) continue;
      __syncwarp(all);
      for (int i = 0; i < rows; ++i) {
        if (lane < width)
          p.dense(0, p.rows.place[first + i], left + lane) = tile[i * (lanes + 1) + lane];
      }
      __syncwarp(all);
    }
  }
}

}  // namespace structmat::displacement::device
