// Long complex exponential sums in float on tensor cores.
//
// A block takes a tile of 128 (complex results: 64) rows of 128 lags of one column. For 16 poles at a time it
// computes 48 terms of each, multiplies them to two tables, and adds the tables' product up. Seeds, tables and
// products of three chunks stand side by side between two barriers, and half of the warps make tables while the
// other half multiplies.
#include "core/reduce.cuh"
#include "core/shared.cuh"
#include "vandermonde/split_tables.cuh"
#include "vandermonde/sums.cuh"

#include <cstdlib>

namespace structmat::gpu {
namespace {

using C = Complex<float>;

constexpr int row_lags = 128, threads = 256;
constexpr int group = 64;  // poles that are prepared together

template <class Out, int buffers>
struct Memory {
  using Sums = SplitSums<Out>;
  struct {
    typename Sums::Left left;
    typename Sums::Right right;
  } tables[buffers];
  struct {
    Seeds coarse, fine;
  } seeds[buffers];
  Exponential sequence[group];
  Exponential::Start start[group];
  C weight[group];
  float2 scale[row_lags];
  float rates[threads / 32];
};

template <class Out>
__host__ __device__ index_t tiles(const OverPoles<C, Out>& m) {
  constexpr index_t lags = SplitSums<Out>::rows * row_lags;
  return (m.z.lags + lags - 1) / lags;
}

template <class Out>
__device__ Exponential sequence(const OverPoles<C, Out>& m, index_t b, index_t n) {
  return Exponential(conjugate_if(m.z.conjugated, m.z.nodes(b, n)));
}

/// The largest rate of all poles, in every thread.
template <class Out>
__device__ float largest_rate(const OverPoles<C, Out>& m, index_t b,
                              float (&scratch)[threads / 32]) {
  float rate = -300;
  for (index_t n = threadIdx.x; n < m.z.count; n += threads)
    rate = fmax(rate, sequence(m, b, n).rate());
  rate = warp_max(rate);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = rate;
  __syncthreads();
  for (const float other : scratch) rate = fmax(rate, other);
  return rate;
}

/// Seeds of `poles` poles from the given one of the group on.
template <class Out, int buffers>
__device__ void make_seeds(Memory<Out, buffers>& memory, int buffer, int first, index_t poles,
                           const ColumnScales& scales) {
  auto& seeds = memory.seeds[buffer];
#pragma unroll 1
  for (int entry = static_cast<int>(threadIdx.x); entry < 2 * Seeds::count; entry += threads) {
    const bool coarse = entry >= Seeds::count;
    const Seeds::Place place(entry % Seeds::count);
    const int pole = first + place.of_chunk();
    C term(0);
    if (pole < poles) {
      const bool begins = coarse && place.is_high();
      float shift = 0;
      if (!coarse) {
        shift = scales.of_seed(place.lag());
        if (!place.is_high()) shift -= static_cast<float>(SplitSums<Out>::right_exponent);
      }
      term = memory.sequence[pole](place.lag() * (coarse ? row_lags : 1),
                                   begins ? memory.start[pole] : Exponential::Start(), shift);
      if (begins) term *= memory.weight[pole];
      // SplitSums takes the conjugate of the left table.
      if (coarse) term = conjugate(term);
    }
    (coarse ? seeds.coarse : seeds.fine)[place] = term;
  }
}

template <class Out, int buffers>
__device__ void make_tables(Memory<Out, buffers>& memory, int buffer) {
  using Sums = SplitSums<Out>;
  auto& tables = memory.tables[buffer];
  const auto& seeds = memory.seeds[buffer];
#pragma unroll
  for (int row = static_cast<int>(threadIdx.x) / 4; row < Sums::rows; row += threads / 4) {
    C values[pole_steps][2];
#pragma unroll
    for (int step = 0; step < pole_steps; ++step) {
      const auto [a, b] = seeds.coarse.term(step, row, Sums::pair());
      values[step][0] = a, values[step][1] = b;
    }
    tables.left.put(row, values);
  }
  fill(tables.right, seeds.fine);
}

/// To 16-byte boundaries.
__device__ void store(float* to, const float (&a)[4]) {
  *reinterpret_cast<float4*>(to) = {a[0], a[1], a[2], a[3]};
}
__device__ void store(C* to, const C (&a)[4]) {
  auto* const wide = reinterpret_cast<float4*>(to);
  wide[0] = {a[0].re, a[0].im, a[1].re, a[1].im};
  wide[1] = {a[2].re, a[2].im, a[3].re, a[3].im};
}

template <class Out, int variant>
__global__ void __launch_bounds__(threads, 2)
    over_poles_split(const __grid_constant__ OverPoles<C, Out> m, bool wide) {
  using Sums = SplitSums<Out>;
  constexpr int buffers = variant == 0 ? 1 : 2;
  auto& memory = *dynamic_shared<Memory<Out, buffers>>();
  const int own = static_cast<int>(threadIdx.x);
  const index_t work = m.batch * m.columns * tiles(m);
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t column = unit / tiles(m) % m.columns, b = unit / tiles(m) / m.columns;
    const index_t row = unit % tiles(m) * Sums::rows;
    const ColumnScales scales(largest_rate(m, b, memory.rates));
    if (own < row_lags) memory.scale[own] = scales.of_column(own);
    Sums sums;
    for (index_t first = 0; first < m.z.count; first += group) {
      const index_t poles = m.z.count - first;
      if (own < group && own < poles) {
        const Exponential terms = sequence(m, b, first + own);
        memory.sequence[own] = terms;
        memory.start[own] = terms.start(row * row_lags);
        memory.weight[own] = m.factor * m.x(b, first + own, column);
      }
      __syncthreads();
      const int chunks =
          static_cast<int>((min(poles, index_t{group}) + pole_chunk - 1) / pole_chunk);
      add_chunks<variant>(
          sums, memory.tables, chunks,
          [&](int chunk) {
            make_seeds(memory, chunk % buffers, chunk * pole_chunk, poles, scales);
          },
          [&](int chunk) { make_tables(memory, chunk % buffers); });
    }
    sums.for_each([&](int r, int at, const Out(&sum)[4]) {
      Out value[4];
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const float2 scale = memory.scale[at + v];
        value[v] = scale.y * (scale.x * sum[v]);
      }
      const index_t lag = (row + r) * row_lags + at;
      Out* const result = &m.y(b, lag, column);
      if (wide && lag + 3 < m.z.lags) {
        store(result, value);
        return;
      }
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        if (lag + v < m.z.lags) result[v * m.y.stride[1]] = value[v];
      }
    });
    __syncthreads();
  }
}

template <int variant, class Out>
void start(const char* operation, int processors, cudaStream_t stream, const OverPoles<C, Out>& m,
           index_t work, bool wide) {
  launch(operation, over_poles_split<Out, variant>,
         Grid{persistent_blocks(work, 1, processors), threads,
              sizeof(Memory < Out, variant == 0 ? 1 : 2 >)},
         stream, m, wide);
}

}  // namespace

template <class Out>
void sum_over_poles_split(const char* operation, int processors, cudaStream_t stream,
                          const OverPoles<C, Out>& m) {
  const index_t work = m.batch * m.columns * tiles(m);
  if (work == 0) return;
  // Four neighbouring lags together, 16 bytes a store.
  const bool wide = m.y.stride[1] == 1 && (m.batch == 1 || m.y.stride[0] % 4 == 0) &&
                    (m.columns == 1 || m.y.stride[2] % 4 == 0) &&
                    reinterpret_cast<std::uintptr_t>(m.y.data) % 16 == 0;
  const char* const variant = std::getenv("STRUCTMAT_VARIANT");
  switch (variant ? *variant : '2') {
    case '0':
      return start<0>(operation, processors, stream, m, work, wide);
    case '1':
      return start<1>(operation, processors, stream, m, work, wide);
    default:
      return start<2>(operation, processors, stream, m, work, wide);
  }
}

template void sum_over_poles_split(const char*, int, cudaStream_t, const OverPoles<C, float>&);
template void sum_over_poles_split(const char*, int, cudaStream_t, const OverPoles<C, C>&);

}  // namespace structmat::gpu
