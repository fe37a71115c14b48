/// \file
/// Tables of terms exp(l a) for SplitSums: 24 seeds of a pole, and products of these.
#pragma once

#include "vandermonde/exponential.cuh"
#include "vandermonde/split_sums.cuh"

namespace structmat::gpu {

/// Terms of a chunk of poles at 8 and 16 multiples of a step and of eight steps, whose products are the
/// terms at the first 128 multiples.
struct Seeds {
  static constexpr int low = seed_width, high = 128 / seed_width, each = low + high;
  static constexpr int count = pole_chunk * each;
  Complex<float> at[pole_steps][each][pole_step];

  /// What entry < count belongs to.
  struct Place {
    int step, seed, pole;
    __device__ explicit Place(int entry)
        : step(entry / (each * pole_step)),
          seed(entry / pole_step % each),
          pole(entry % pole_step) {}
    __device__ int of_chunk() const { return step * pole_step + pole; }
    __device__ bool is_high() const { return seed >= low; }
    /// In steps.
    __device__ int lag() const { return is_high() ? (seed - low) * seed_width : seed; }
  };
  __device__ Complex<float>& operator[](const Place& p) { return at[p.step][p.seed][p.pole]; }

  /// The terms of two poles.
  struct alignas(2 * sizeof(Complex<float>)) Pair {
    Complex<float> first, second;
    friend __device__ Pair operator*(const Pair& a, const Pair& b) {
      return {a.first * b.first, a.second * b.second};
    }
  };
  __device__ Pair term(int step, int lag, int pair) const {
    const auto seed = [&](int s) { return *reinterpret_cast<const Pair*>(&at[step][s][2 * pair]); };
    return seed(low + lag / seed_width) * seed(lag % seed_width);
  }
};

/// Scales of columns, powers of two, between which and twice which the fastest growing one of all poles
/// stays: growing and decaying sequences fit into a table, and keep their figures.
class ColumnScales {
 public:
  /// rate: the largest Re a / log 2.
  __device__ explicit ColumnScales(float rate) : rate_(rate) {}
  /// Of a seed, as the exponent of two.
  __device__ float of_seed(int lag) const { return floor(static_cast<float>(lag) * rate_); }
  /// Of a column, as two factors.
  __device__ float2 of_column(int lag) const {
    return Exponential::factors_of_two(of_seed(lag % seed_width) +
                                       of_seed(lag / seed_width * seed_width));
  }

 private:
  float rate_;
};

/// The right table of terms 0 ... 127.
template <class Right>
__device__ void fill(Right& table, const Seeds& seeds) {
  const int own = static_cast<int>(threadIdx.x), pair = own % Right::pairs;
  constexpr int at_once = 256 / Right::pairs;
#pragma unroll
  for (int step = 0; step < pole_steps; ++step) {
#pragma unroll
    for (int first = 0; first < 128; first += at_once) {
      const int lag = first + own / Right::pairs;
      const auto [a, b] = seeds.term(step, lag, pair);
      table.at[step][lag][pair] = PolePair(a, b);
    }
  }
}

/// Adds `chunks` chunks of poles. seed(chunk) prepares what tabulate(chunk) makes tables[chunk % 2] of; the
/// three stages of neighbouring chunks stand between two barriers, and half of the warps multiply first.
template <int variant, class Sums, class Tables, class Seed, class Tabulate>
__device__ void add_chunks(Sums& sums, const Tables& tables, int chunks, const Seed& seed,
                           const Tabulate& tabulate) {
  seed(0);
  __syncthreads();
  if constexpr (variant == 0) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      tabulate(chunk);
      __syncthreads();
      sums.add(tables[0].left, tables[0].right);
      if (chunk + 1 < chunks) seed(chunk + 1);
      __syncthreads();
    }
  } else {
    tabulate(0);
    if (1 < chunks) seed(1);
    __syncthreads();
    const bool first = variant == 1 || static_cast<int>(threadIdx.x) < Sums::threads / 2;
    for (int chunk = 0; chunk < chunks; ++chunk) {
#pragma unroll 1
      for (int half = 0; half < 2; ++half) {
        if (first == (half == 0)) {
          sums.add(tables[chunk % 2].left, tables[chunk % 2].right);
        } else {
          if (chunk + 1 < chunks) tabulate(chunk + 1);
          if (chunk + 2 < chunks) seed(chunk + 2);
        }
      }
      __syncthreads();
    }
  }
}

}  // namespace structmat::gpu
