// Sums over lags: S[k, l1] = sum_l2 z_k(l2) x(l1 R + l2) as a product of a (poles x R) table and rows of
// x, then y_k = sum_l1 z_k(l1 R) S[k, l1].
//
// A block takes 32 poles and a segment of 256 rows of R = 64 lags of one column, 64 rows at a time:
// 8 x 16 threads with 4 poles x 4 rows each. Long sequences have several segments: their sums are added
// in a second launch. Segments depend on the number of lags alone and all sums run in a fixed order.
#include "core/shared.cuh"
#include "vandermonde/sums.cuh"

namespace structmat::gpu {
namespace {

constexpr int row_lags = 64;
constexpr int tile_poles = 32, tile_rows = 64, segment_rows = 256;
constexpr int pole_lanes = 8, row_lanes = 16, threads = pole_lanes * row_lanes;
constexpr int poles_each = tile_poles / pole_lanes, rows_each = tile_rows / row_lanes;
constexpr int piece = 32;  // lags of the tile's rows that are in shared memory at a time
constexpr int seeds = row_lags / seed_width;

static_assert(seeds == tile_rows / seed_width);

/// At least one, which writes zeros where there are no lags.
__host__ __device__ index_t segments(index_t lags) {
  constexpr index_t segment = segment_rows * row_lags;
  return lags == 0 ? 1 : (lags + segment - 1) / segment;
}
__host__ __device__ index_t pole_tiles(index_t count) {
  return (count + tile_poles - 1) / tile_poles;
}

template <class T, class X>
__device__ T plus(T sum, T fine, X x) {
  if constexpr (std::is_same_v<T, X>)
    return multiply_add(fine, x, sum);
  else
    return {fma(fine.re, x, sum.re), fma(fine.im, x, sum.im)};
}

template <class T, class X>
struct Tables {
  Geometric<T> sequence[tile_poles];
  T low[seed_width][tile_poles], high[seeds][tile_poles];
  T fine[row_lags][tile_poles + 1];
  X rows[tile_rows][piece + 1];
  T total[row_lanes][tile_poles];
};

/// low, high := terms of all poles at lags s step and start + 8 s step.
template <class T, class X>
__device__ void seed(Tables<T, X>& tables, index_t poles, index_t start, index_t step) {
  for (int entry = static_cast<int>(threadIdx.x); entry < 2 * seed_width * tile_poles;
       entry += threads) {
    const int pole = entry % tile_poles, s = entry / tile_poles % seed_width;
    const bool high = entry >= seed_width * tile_poles;
    const T term = pole < poles
                       ? tables.sequence[pole](high ? start + s * seed_width * step : s * step)
                       : T(0);
    (high ? tables.high : tables.low)[s][pole] = term;
  }
}

template <class T, class X>
__global__ void __launch_bounds__(threads)
    over_lags(const __grid_constant__ OverLags<T, X> m, T* partial) {
  Tables<T, X>& tables = *dynamic_shared<Tables<T, X>>();
  const int own = static_cast<int>(threadIdx.x);
  const int pole_lane = own % pole_lanes, row_lane = own / pole_lanes;
  const index_t parts = segments(m.z.lags), tiles = pole_tiles(m.z.count);
  const index_t work = m.batch * m.columns * tiles * parts;
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t part = unit % parts, first = unit / parts % tiles * tile_poles;
    const index_t entry = unit / parts / tiles, column = entry % m.columns, b = entry / m.columns;
    const index_t poles = m.z.count - first;
    if (own < tile_poles && own < poles) tables.sequence[own] = m.z(b, first + own);
    __syncthreads();
    seed(tables, poles, 0, 1);
    __syncthreads();
    for (int at = own; at < row_lags * tile_poles; at += threads) {
      const int pole = at % tile_poles, lag = at / tile_poles;
      tables.fine[lag][pole] =
          tables.high[lag / seed_width][pole] * tables.low[lag % seed_width][pole];
    }
    T total[poles_each] = {};
    for (index_t row = part * segment_rows;
         row < (part + 1) * segment_rows && row * row_lags < m.z.lags; row += tile_rows) {
      __syncthreads();
      seed(tables, poles, row * row_lags, row_lags);
      T sum[poles_each][rows_each] = {};
      for (int start = 0; start < row_lags; start += piece) {
        __syncthreads();
        for (int at = own; at < tile_rows * piece; at += threads) {
          const int r = at / piece, p = at % piece;
          const index_t lag = (row + r) * row_lags + start + p;
          X x(0);
          if (lag < m.z.lags) {
            x = conjugate_if(m.conjugated, m.x(b, lag, column));
            if (m.weighted) x = static_cast<real_of_t<X>>(lag) * x;
          }
          tables.rows[r][p] = x;
        }
        __syncthreads();
#pragma unroll 4
        for (int p = 0; p < piece; ++p) {
          T fine[poles_each];
          X x[rows_each];
#pragma unroll
          for (int i = 0; i < poles_each; ++i)
            fine[i] = tables.fine[start + p][pole_lane + i * pole_lanes];
#pragma unroll
          for (int j = 0; j < rows_each; ++j) x[j] = tables.rows[row_lane + j * row_lanes][p];
#pragma unroll
          for (int i = 0; i < poles_each; ++i) {
#pragma unroll
            for (int j = 0; j < rows_each; ++j) sum[i][j] = plus(sum[i][j], fine[i], x[j]);
          }
        }
      }
#pragma unroll
      for (int j = 0; j < rows_each; ++j) {
        const int r = row_lane + j * row_lanes;
        // A growing sequence may overflow in rows that do not exist.
        if ((row + r) * row_lags >= m.z.lags) continue;
#pragma unroll
        for (int i = 0; i < poles_each; ++i) {
          const int pole = pole_lane + i * pole_lanes;
          const T coarse = tables.high[r / seed_width][pole] * tables.low[r % seed_width][pole];
          total[i] = multiply_add(coarse, sum[i][j], total[i]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < poles_each; ++i)
      tables.total[row_lane][pole_lane + i * pole_lanes] = total[i];
    __syncthreads();
    if (own < tile_poles && own < poles) {
      T result = tables.total[0][own];
      for (int lane = 1; lane < row_lanes; ++lane) result += tables.total[lane][own];
      result = m.factor * result;
      if (parts == 1)
        m.y(b, first + own, column) = result;
      else
        partial[(entry * parts + part) * m.z.count + first + own] = result;
    }
    __syncthreads();
  }
}

template <class T, class X>
__global__ void __launch_bounds__(256)
    add_segments(const __grid_constant__ OverLags<T, X> m, const T* partial) {
  const index_t parts = segments(m.z.lags), work = m.batch * m.columns * m.z.count;
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < work;
       unit += index_t{gridDim.x} * blockDim.x) {
    const index_t k = unit % m.z.count, entry = unit / m.z.count;
    T sum = partial[entry * parts * m.z.count + k];
    for (index_t part = 1; part < parts; ++part)
      sum += partial[(entry * parts + part) * m.z.count + k];
    m.y(entry / m.columns, k, entry % m.columns) = sum;
  }
}

}  // namespace

index_t partial_sums(index_t lags, index_t count) {
  return segments(lags) > 1 ? segments(lags) * count : 0;
}

template <class T, class X>
void sum_over_lags(const char* operation, int processors, cudaStream_t stream,
                   const OverLags<T, X>& m, T* partial) {
  const index_t columns = m.batch * m.columns * m.z.count;
  if (columns == 0) return;
  const index_t parts = segments(m.z.lags);
  const index_t work = m.batch * m.columns * pole_tiles(m.z.count) * parts;
  launch(operation, over_lags<T, X>,
         Grid{persistent_blocks(work, 1, processors), threads, sizeof(Tables<T, X>)}, stream, m,
         partial);
  if (parts == 1) return;
  launch(operation, add_segments<T, X>, persistent_blocks(columns, 256, processors), 256, stream, m,
         partial);
}

#define STRUCTMAT_INSTANTIATE(T, X) \
  template void sum_over_lags(const char*, int, cudaStream_t, const OverLags<T, X>&, T*);
STRUCTMAT_INSTANTIATE(float, float)
STRUCTMAT_INSTANTIATE(double, double)
STRUCTMAT_INSTANTIATE(Complex<float>, Complex<float>)
STRUCTMAT_INSTANTIATE(Complex<double>, Complex<double>)
STRUCTMAT_INSTANTIATE(Complex<float>, float)
STRUCTMAT_INSTANTIATE(Complex<double>, double)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu
