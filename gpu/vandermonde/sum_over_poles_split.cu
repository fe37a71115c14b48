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
namespace structmat::gpu {
namespace {

using C = Complex<float>;

constexpr int row_lags = 128, threads = 256;
constexpr int group = 64;  // poles that are prepared together

template <class Out>
struct Memory {
  typename SplitSums<Out>::Left left;
  typename SplitSums<Out>::Right right;
  Seeds coarse, fine;
  Exponential sequence[group];
  Exponential::Start start[group];
  C weight[group];
  float scale[2][row_lags];
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

/// Seeds of a chunk: a thread has a pole and a sixteenth of its seeds.
template <class Out>
__device__ void make_seeds(Memory<Out>& memory, int chunk, const ColumnScales& scales) {
  const unsigned thread = thread_again();
  const int pole = static_cast<int>(thread % pole_chunk),
            seed = static_cast<int>(thread / pole_chunk);
  static_assert(threads / pole_chunk == Seeds::highs && Seeds::highs == 2 * Seeds::lows);
  const int at = chunk * pole_chunk + pole;
  const Exponential terms = memory.sequence[at];
  const Exponential::Start start = memory.start[at];
  const C weight = memory.weight[at];
  const bool of_fine = seed < Seeds::lows;
  const int low = seed % Seeds::lows, high = seed * seed_width;
  const int shift = of_fine ? scales.of_seed(low) - SplitSums<Out>::Right::exponent : 0;
  const C first = terms(of_fine ? low : low * row_lags, {Exponential::no_phase, -shift, 0});
  const C fine = terms(high, scales.of_seed(high));
  const C coarse = terms(high * row_lags, start) * weight;
  // SplitSums takes the conjugate of the left table.
  (of_fine ? memory.fine : memory.coarse).put_low(low, pole, conjugate_if(!of_fine, first));
  memory.fine.put_high(seed, pole, fine);
  memory.coarse.put_high(seed, pole, conjugate(coarse));
}

template <class Out>
__device__ void make_tables(Memory<Out>& memory) {
  using Sums = SplitSums<Out>;
  fill<Sums>(memory.left, [&](int step, int pair, int row, C(&top)[2], C(&bottom)[2]) {
    const Seeds::Pair* const high = &memory.coarse.high[step][row / seed_width][pair];
    const Seeds::Pair low = memory.coarse.low[step][row % seed_width][pair];
    const Seeds::Pair first = low * high[0], second = low * high[Sums::pairs];
#pragma unroll
    for (int pole = 0; pole < 2; ++pole) {
      top[pole] = first.pole[pole];
      bottom[pole] = second.pole[pole];
    }
  });
  fill(memory.right, memory.fine);
}

/// To[at] ... to[at + 3] := a, with 16-byte boundaries; at: a multiple of 4.
__device__ void store(float* to, unsigned at, const float (&a)[4]) {
  reinterpret_cast<float4*>(to)[at / 4] = make_float4(a[0], a[1], a[2], a[3]);
}
__device__ void store(C* to, unsigned at, const C (&a)[4]) {
  float4* const wide = reinterpret_cast<float4*>(to) + at / 2;
  wide[0] = make_float4(a[0].re, a[0].im, a[1].re, a[1].im);
  wide[1] = make_float4(a[2].re, a[2].im, a[3].re, a[3].im);
}

template <class Out>
__global__ void __launch_bounds__(threads, 2)
    over_poles_split(const __grid_constant__ OverPoles<C, Out> m, bool wide) {
  using Sums = SplitSums<Out>;
  auto& memory = *dynamic_shared<Memory<Out>>();
  const int own = static_cast<int>(threadIdx.x);
  const index_t work = m.batch * m.columns * tiles(m);
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t column = unit / tiles(m) % m.columns, b = unit / tiles(m) / m.columns;
    const index_t row = unit % tiles(m) * Sums::rows;
    // This thread's pole of a group; what is missing has weight 0.
    const auto prepare = [&](index_t first) {
      if (own >= group) return;
      const bool exists = own < m.z.count - first;
      const Exponential terms = exists ? sequence(m, b, first + own) : Exponential(-INFINITY, 0);
      memory.sequence[own] = terms;
      memory.start[own] = terms.start(row * row_lags);
      memory.weight[own] = exists ? m.factor * m.x(b, first + own, column) : C(0);
    };
    prepare(0);
    float rate = -Exponential::limit;
    if (own < group && own < m.z.count) rate = fmax(rate, memory.sequence[own].rate());
    for (index_t n = group + own; n < m.z.count; n += threads)
      rate = fmax(rate, sequence(m, b, n).rate());
    const ColumnScales scales(block_max(rate, memory.rates));
    if (own < row_lags) {
      const float2 scale = scales.of_column(own);
      memory.scale[0][own] = scale.x;
      memory.scale[1][own] = scale.y;
    }
    Sums sums;
    for (index_t first = 0; first < m.z.count; first += group) {
      if (first > 0) {
        prepare(first);
        __syncthreads();
      }
      const int poles = static_cast<int>(min(m.z.count - first, index_t{group}));
      add_chunks(
          sums, memory.left, memory.right, (poles + pole_chunk - 1) / pole_chunk,
          [&](int chunk) { make_seeds(memory, chunk, scales); }, [&](int) { make_tables(memory); });
    }
    Out* const result = &m.y(b, row * row_lags, column);
    const index_t lags = m.z.lags - row * row_lags;
    if (wide && lags >= Sums::rows * row_lags && scales.moderate()) {
      sums.for_each([&](int r, int at, const Out(&sum)[4]) {
        Out value[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) value[v] = memory.scale[0][at + v] * sum[v];
        store(result, r * row_lags + at, value);
      });
    } else {
      sums.for_each([&](int r, int at, const Out(&sum)[4]) {
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          const int lag = r * row_lags + at + v;
          if (lag >= lags) continue;
          result[lag * m.y.stride[1]] =
              memory.scale[1][at + v] * (memory.scale[0][at + v] * sum[v]);
        }
      });
    }
    __syncthreads();
  }
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
  launch(operation, over_poles_split<Out>,
         Grid{persistent_blocks(work, 1, processors), threads, sizeof(Memory<Out>)}, stream, m,
         wide);
}

template void sum_over_poles_split(const char*, int, cudaStream_t, const OverPoles<C, float>&);
template void sum_over_poles_split(const char*, int, cudaStream_t, const OverPoles<C, C>&);

}  // namespace structmat::gpu
