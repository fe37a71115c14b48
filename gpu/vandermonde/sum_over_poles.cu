// Sums over poles as products of (rows x poles) and (poles x lags of a row) tables.
//
// A block takes a tile of 64 rows of 64 lags of one column: 16 x 16 threads with 4 x 4 sums each. For
// eight poles at a time it computes 32 terms of each, multiplies them to the tables, coarse ones times
// x, and adds their products up. Every sum runs over the poles in order, so that it depends on nothing
// but its own data.
#include "core/shared.cuh"
#include "vandermonde/sums.cuh"

namespace structmat::gpu {
namespace {

constexpr int tile = 64;            // rows, and lags of a row
constexpr int lanes = 16;           // threads in either direction
constexpr int sums = tile / lanes;  // of a thread, in either direction
constexpr int chunk = 8;            // poles
constexpr int threads = lanes * lanes;
constexpr int seeds = tile / seed_width;

static_assert(4 * seed_width * chunk == threads && seeds == seed_width);

template <class T, class Out>
__host__ __device__ index_t tiles(const OverPoles<T, Out>& m) {
  return (m.z.lags + tile * tile - 1) / (tile * tile);
}

template <class T, class Out>
__device__ Out plus(Out sum, T coarse, T fine) {
  if constexpr (std::is_same_v<T, Out>)
    return multiply_add(coarse, fine, sum);
  else
    return fma(coarse.re, fine.re, fma(-coarse.im, fine.im, sum));
}

template <class T>
struct Tables {
  Geometric<T> sequence[chunk];
  T weight[chunk];
  T seed[chunk][4][seed_width];  // fine low, fine high, coarse low, coarse high
  T fine[chunk][tile], coarse[chunk][tile];
};

/// Fills the tables for poles [first, first + chunk); what does not exist is zero.
template <class T, class Out>
__device__ void tabulate(const OverPoles<T, Out>& m, index_t b, index_t column, index_t row,
                         index_t first, Tables<T>& tables) {
  const int own = static_cast<int>(threadIdx.x);
  if (own < chunk && first + own < m.z.count) {
    tables.sequence[own] = m.z(b, first + own);
    tables.weight[own] = m.factor * m.x(b, first + own, column);
  }
  __syncthreads();
  {
    const int pole = own / (4 * seed_width), kind = own / seed_width % 4, s = own % seed_width;
    if (first + pole < m.z.count) {
      const index_t step = kind % 2 == 0 ? s : s * seed_width;
      const index_t lag = kind < 2 ? step : (kind == 2 ? step : row + step) * tile;
      tables.seed[pole][kind][s] = tables.sequence[pole](lag);
    }
  }
  __syncthreads();
  for (int entry = own; entry < chunk * tile; entry += threads) {
    const int pole = entry / tile, at = entry % tile;
    T fine(0), coarse(0);
    if (first + pole < m.z.count) {
      const T weight = tables.weight[pole];
      // A power beyond the range counts as zero with a zero weight; a node that is no number does not.
      if (!(weight == T(0)) || !is_finite(tables.sequence[pole].base)) {
        const T(*seed)[seed_width] = tables.seed[pole];
        fine = seed[1][at / seed_width] * seed[0][at % seed_width];
        coarse = seed[3][at / seed_width] * seed[2][at % seed_width] * weight;
      }
    }
    tables.fine[pole][at] = fine;
    tables.coarse[pole][at] = coarse;
  }
  __syncthreads();
}

template <class T, class Out>
__global__ void __launch_bounds__(threads) over_poles(const __grid_constant__ OverPoles<T, Out> m) {
  Tables<T>& tables = *dynamic_shared<Tables<T>>();
  const int lane = static_cast<int>(threadIdx.x) % lanes,
            group = static_cast<int>(threadIdx.x) / lanes;
  const index_t work = m.batch * m.columns * tiles(m);
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t column = unit / tiles(m) % m.columns, b = unit / tiles(m) / m.columns;
    const index_t row = unit % tiles(m) * tile;
    // Threads all of whose rows are beyond the last lag have nothing to add.
    const index_t own_row = row + group * sums;
    const bool busy = own_row * tile < m.z.lags;
    Out sum[sums][sums] = {};
    for (index_t first = 0; first < m.z.count; first += chunk) {
      tabulate(m, b, column, row, first, tables);
      if (busy) {
#pragma unroll
        for (int pole = 0; pole < chunk; ++pole) {
          T coarse[sums], fine[sums];
#pragma unroll
          for (int i = 0; i < sums; ++i) {
            coarse[i] = tables.coarse[pole][group * sums + i];
            fine[i] = tables.fine[pole][lane + i * lanes];
          }
#pragma unroll
          for (int i = 0; i < sums; ++i) {
#pragma unroll
            for (int j = 0; j < sums; ++j) sum[i][j] = plus(sum[i][j], coarse[i], fine[j]);
          }
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < sums; ++i) {
#pragma unroll
      for (int j = 0; j < sums; ++j) {
        const index_t lag = (own_row + i) * tile + lane + j * lanes;
        if (lag < m.z.lags) m.y(b, lag, column) = sum[i][j];
      }
    }
  }
}

}  // namespace

template <class T, class Out>
void sum_over_poles(const char* operation, int processors, cudaStream_t stream,
                    const OverPoles<T, Out>& m) {
  if constexpr (std::is_same_v<T, Complex<float>>) {
    constexpr index_t many_lags = 4096;
    if (m.z.terms == Terms::exponentials && m.z.lags >= many_lags) {
      return sum_over_poles_split(operation, processors, stream, m);
    }
  }
  const index_t work = m.batch * m.columns * tiles(m);
  if (work == 0) return;
  launch(operation, over_poles<T, Out>,
         Grid{persistent_blocks(work, 1, processors), threads, sizeof(Tables<T>)}, stream, m);
}

#define STRUCTMAT_INSTANTIATE(T, Out) \
  template void sum_over_poles(const char*, int, cudaStream_t, const OverPoles<T, Out>&);
STRUCTMAT_INSTANTIATE(float, float)
STRUCTMAT_INSTANTIATE(double, double)
STRUCTMAT_INSTANTIATE(Complex<float>, Complex<float>)
STRUCTMAT_INSTANTIATE(Complex<double>, Complex<double>)
STRUCTMAT_INSTANTIATE(Complex<float>, float)
STRUCTMAT_INSTANTIATE(Complex<double>, double)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu
