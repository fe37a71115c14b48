/// \file
/// Tables of terms exp(l a) for SplitSums: 24 seeds of a pole, and products of these.
#pragma once

#include "vandermonde/exponential.cuh"
#include "vandermonde/split_sums.cuh"

namespace structmat::gpu {

/// Terms of a chunk of poles at 8 and 16 multiples of a step and of eight steps, whose products are the
/// terms at the first 128 multiples.
struct Seeds {
  static constexpr int lows = seed_width, highs = 128 / seed_width;

  /// Numbers of two poles.
  struct alignas(2 * sizeof(Complex<float>)) Pair {
    Complex<float> pole[2];
    friend __device__ Pair operator*(const Pair& a, const Pair& b) {
      return {{a.pole[0] * b.pole[0], a.pole[1] * b.pole[1]}};
    }
  };
  Pair low[pole_steps][lows][pole_step / 2], high[pole_steps][highs][pole_step / 2];

  __device__ void put_low(int seed, int pole, Complex<float> term) {
    low[pole / pole_step][seed][pole % pole_step / 2].pole[pole % 2] = term;
  }
  __device__ void put_high(int seed, int pole, Complex<float> term) {
    high[pole / pole_step][seed][pole % pole_step / 2].pole[pole % 2] = term;
  }
};

/// Scales of columns, powers of two, between which and twice which the fastest growing one of all poles
/// stays: growing and decaying sequences fit into a table, and keep their figures.
class ColumnScales {
 public:
  /// rate: the largest Re a / log 2.
  __device__ explicit ColumnScales(float rate) : rate_(rate) {}
  /// Of a seed, as the exponent of two.
  __device__ int of_seed(int lag) const {
    return static_cast<int>(floor(static_cast<float>(lag) * rate_));
  }
  /// Of a column: a factor, and another one that most often is 1.
  __device__ float2 of_column(int lag) const {
    const int exponent = of_seed(lag % seed_width) + of_seed(lag / seed_width * seed_width);
    const int first = min(max(exponent, -100), 100), second = min(max(exponent - first, -126), 127);
    return {power_of_two(first), power_of_two(second)};
  }
  /// Are all second factors 1?
  __device__ bool moderate() const { return fabs(rate_) * 128 < 100; }

 private:
  float rate_;
};

// Entries of a thread are computed together and stored afterwards: a compiler that cannot see that tables and
// seeds are apart would otherwise wait for each of them.

/// The right table of terms 0 ... 127.
template <class Right>
__device__ void fill(Right& table, const Seeds& seeds) {
  constexpr int pairs = pole_step / 2, at_once = 256 / pairs, each = 128 / at_once;
  const unsigned thread = thread_again();
  const int pair = static_cast<int>(thread % pairs), own = static_cast<int>(thread / pairs);
  PolePair entry[pole_steps][each];
#pragma unroll
  for (int step = 0; step < pole_steps; ++step) {
    const Seeds::Pair low = seeds.low[step][own % seed_width][pair];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int high = (i * at_once + own) / seed_width;
      const Seeds::Pair term = low * seeds.high[step][high][pair];
      entry[step][i] = PolePair(term.pole[0], term.pole[1]);
    }
  }
#pragma unroll
  for (int step = 0; step < pole_steps; ++step) {
#pragma unroll
    for (int i = 0; i < each; ++i) table.at[step][i * at_once + own][pair] = entry[step][i];
  }
}

/// The left table: make(step, pair of poles, row, terms of the poles in it and 8 rows on).
template <class Sums, class Make>
__device__ void fill(typename Sums::Left& table, const Make& make) {
  using Left = typename Sums::Left;
  constexpr int lanes = pole_steps * Sums::pairs, at_once = Sums::threads / lanes;
  constexpr int each = Left::row_pairs / at_once;
  const unsigned thread = thread_again();
  const int pair = static_cast<int>(thread % Sums::pairs),
            step = static_cast<int>(thread / Sums::pairs % pole_steps),
            own = static_cast<int>(thread / lanes);
  typename Left::Entry entry[each];
#pragma unroll
  for (int i = 0; i < each; ++i) {
    Complex<float> top[2], bottom[2];
    make(step, pair, Left::row(i * at_once + own), top, bottom);
    entry[i] = typename Left::Entry(top, bottom);
  }
#pragma unroll
  for (int i = 0; i < each; ++i) table.put(step, i * at_once + own, pair, entry[i]);
}

/// Adds `chunks` chunks of poles, whose tables tabulate(chunk) makes of what seed(chunk) has prepared.
template <class Sums, class Seed, class Tabulate>
__device__ void add_chunks(Sums& sums, const typename Sums::Left& left,
                           const typename Sums::Right& right, int chunks, const Seed& seed,
                           const Tabulate& tabulate) {
  seed(0);
  __syncthreads();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    tabulate(chunk);
    __syncthreads();
    sums.add(left, right);
    if (chunk + 1 < chunks) seed(chunk + 1);
    __syncthreads();
  }
}

}  // namespace structmat::gpu
