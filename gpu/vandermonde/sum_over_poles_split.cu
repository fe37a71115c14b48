// Long complex exponential sums in float on tensor cores.
//
// A block takes a tile of 128 (complex results: 64) rows of 128 lags of one column. For 16 poles at a time it
// computes 48 terms of each and multiplies them to two tables; while one block of a multiprocessor does
// so, the other one multiplies.
#include "core/shared.cuh"
#include "vandermonde/split_sums.cuh"
#include "vandermonde/sums.cuh"

namespace structmat::gpu {
namespace {

using C = Complex<float>;

constexpr int row_lags = 128;
constexpr int most_seeds = row_lags / seed_width;  // of high parts
constexpr int threads = 256;

template <class Out>
struct Tables {
  static constexpr int chunk = SplitSums<Out>::chunk;
  Geometric<C> sequence[chunk];
  C weight[chunk];
  // Terms at lags 0 ... 7, at multiples of 8, and the same for rows.
  C seed[2][chunk][seed_width + most_seeds];
  typename SplitSums<Out>::Table coarse, fine;
};

template <class Out>
__host__ __device__ index_t tiles(const OverPoles<C, Out>& m) {
  constexpr index_t lags = SplitSums<Out>::rows * row_lags;
  return (m.z.lags + lags - 1) / lags;
}

template <class Out>
__device__ void tabulate(const OverPoles<C, Out>& m, index_t b, index_t column, index_t row,
                         index_t first, Tables<Out>& tables) {
  constexpr int chunk = SplitSums<Out>::chunk, each = seed_width + most_seeds;
  const int own = static_cast<int>(threadIdx.x);
  if (own < chunk && first + own < m.z.count) {
    tables.sequence[own] = m.z(b, first + own);
    tables.weight[own] = m.factor * m.x(b, first + own, column);
  }
  __syncthreads();
  for (int entry = own; entry < 2 * chunk * each; entry += threads) {
    const int pole = entry % chunk, s = entry / chunk % each, rows = entry / (chunk * each);
    const index_t step = s < seed_width ? s : (s - seed_width) * seed_width;
    const index_t lag = rows == 0 ? step : ((s < seed_width ? 0 : row) + step) * row_lags;
    C term(0);
    if (first + pole < m.z.count) {
      term = tables.sequence[pole](lag);
      // The coarse table is conjugated for SplitSums, and holds the weights.
      if (rows == 1) term = conjugate(s < seed_width ? term : term * tables.weight[pole]);
    }
    tables.seed[rows][pole][s] = term;
  }
  __syncthreads();
  for (int entry = own; entry < chunk * row_lags; entry += threads) {
    const int pole = entry / row_lags, at = entry % row_lags;
    const auto term = [&](int rows) {
      const C* const seed = tables.seed[rows][pole];
      return seed[at % seed_width] * seed[seed_width + at / seed_width];
    };
    tables.fine[pole][at] = term(0);
    if (at < SplitSums<Out>::rows) tables.coarse[pole][at] = term(1);
  }
  __syncthreads();
}

template <class Out>
__global__ void __launch_bounds__(threads, 2)
    over_poles_split(const __grid_constant__ OverPoles<C, Out> m, bool pairs) {
  Tables<Out>& tables = *dynamic_shared<Tables<Out>>();
  const index_t work = m.batch * m.columns * tiles(m);
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t column = unit / tiles(m) % m.columns, b = unit / tiles(m) / m.columns;
    const index_t row = unit % tiles(m) * SplitSums<Out>::rows;
    SplitSums<Out> sums;
    for (index_t first = 0; first < m.z.count; first += SplitSums<Out>::chunk) {
      tabulate(m, b, column, row, first, tables);
      sums.add(tables.coarse, tables.fine);
      __syncthreads();
    }
    sums.for_each([&](int r, int at, Out one, Out other) {
      const index_t lag = (row + r) * row_lags + at;
      Out* const result = &m.y(b, lag, column);
      if (pairs && lag + 1 < m.z.lags) {
        struct alignas(2 * sizeof(Out)) Pair {
          Out one, other;
        };
        *reinterpret_cast<Pair*>(result) = {one, other};
        return;
      }
      if (lag < m.z.lags) *result = one;
      if (lag + 1 < m.z.lags) result[m.y.stride[1]] = other;
    });
  }
}

}  // namespace

template <class Out>
void sum_over_poles_split(const char* operation, int processors, cudaStream_t stream,
                          const OverPoles<C, Out>& m) {
  const index_t work = m.batch * m.columns * tiles(m);
  if (work == 0) return;
  // Two neighbouring lags in one store.
  const bool pairs = m.y.stride[1] == 1 && m.y.stride[0] % 2 == 0 && m.y.stride[2] % 2 == 0 &&
                     reinterpret_cast<std::uintptr_t>(m.y.data) % (2 * sizeof(Out)) == 0;
  launch(operation, over_poles_split<Out>,
         Grid{persistent_blocks(work, 1, processors), threads, sizeof(Tables<Out>)}, stream, m,
         pairs);
}

template void sum_over_poles_split(const char*, int, cudaStream_t, const OverPoles<C, float>&);
template void sum_over_poles_split(const char*, int, cudaStream_t, const OverPoles<C, C>&);

}  // namespace structmat::gpu
