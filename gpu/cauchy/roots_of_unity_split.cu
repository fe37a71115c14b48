// Cauchy sums on mapped roots of unity as products of tables and short transforms, in float.
//
// With l = 128 l1 + l2 and k = k1 + L1 k2, L1 = L / 128, the transform of the sequence v' zeta^l / (1 - zeta^L) is
//   sum_l2 w_128^(l2 k2) [ w_L^(l2 k1) sum_n g_n(k1) zeta_n^l2 ],   g_n(k1) = v'_n / (1 - zeta_n^128 w_L1^k1),
// where v' = v dt / (1 - u): the sum over l1 is geometric, so that 1 - zeta^L never appears. The difference in
// g is formed in double; it is smaller than 1 by what decays over 128 steps.
//
// A block takes 64 values of k1 of one column: the inner sum on tensor cores (SplitSums), into shared memory,
// times w_L^(l2 k1), then transforms of length 128 = 8 x 16 in registers.
#include "cauchy/reciprocal.cuh"
#include "cauchy/roots_of_unity.cuh"
#include "core/reduce.cuh"
#include "core/shared.cuh"
#include "vandermonde/split_tables.cuh"

namespace structmat::gpu {
namespace {

using C = Complex<float>;
using Sums = SplitSums<C>;

constexpr int threads = Sums::threads, rows = Sums::rows, points = Sums::columns;
constexpr int group = 64;  // poles that are prepared together
static_assert(4 * rows == threads && points == 128);

struct Poles {
  Exponential sequence[group];   // zeta^l
  Complex<double> power[group];  // zeta^128
  C weight[group];               // v'
  float rates[threads / 32];
};
struct Tables {
  Sums::Left left;
  Sums::Right right;
  Seeds seeds;
  Complex<double> root[rows];  // w_L1^k1
};
struct Transforms {
  // w_L^(k1 l2) for l2 < 8, and for multiples of 8, with the scales of these columns.
  C low[rows][seed_width + 1], high[rows][points / seed_width + 1];
  C root[points];  // w_128^j
  C value[rows][points + 1];
};
struct Memory {
  Poles poles;
  union {
    Tables tables;
    Transforms transforms;
  };
};

/// a exp(-2 pi i j / 16), j < 8 known to the compiler.
__device__ C turned(C a, int j) {
  constexpr float cosine[4] = {1, .92387953f, .70710678f, .38268343f};
  if (j >= 4) a = {a.im, -a.re};
  j %= 4;
  if (j == 0) return a;
  if (j == 2) return cosine[2] * C(a.re + a.im, a.im - a.re);
  return a * C(cosine[j], -cosine[4 - j]);
}

/// x := its transform, with X_k at the index with k's bits in the opposite order.
template <int N>
__device__ void transform(C (&x)[N]) {
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (i & half) continue;
      const C a = x[i], b = x[i + half];
      x[i] = a + b;
      x[i + half] = turned(a - b, i % half * (8 / half));
    }
  }
}
template <int N>
__device__ constexpr int reversed(int k) {
  int result = 0;
  for (int bit = 1; bit < N; bit *= 2) result = 2 * result + (k & bit ? 1 : 0);
  return result;
}

/// log |zeta|, zeta = (1 + u) / (1 - u).
__device__ double rate(Complex<double> u) {
  return 0.5 * log1p(4 * u.re / square(Complex<double>(1) - u));
}

/// Prepares the group of poles that begins with `first`; what is missing has weight 0. A quarter of the threads
/// each has rates, angles, powers and weights: double functions are slow, and others wait for them.
__device__ void prepare(const RootSumsProblem<C>& m, index_t b, index_t column, index_t first,
                        Poles& poles) {
  static_assert(threads == 4 * group);
  const int own = static_cast<int>(threadIdx.x) % group,
            quarter = static_cast<int>(threadIdx.x) / group;
  const bool exists = own < m.count - first;
  const Complex<double> u = exists ? m.half_step(b, first + own) : Complex<double>(-1);
  const double inverse = 1 / square(Complex<double>(1) - u);
  if (quarter == 0) {
    poles.sequence[own].set_rate(exists ? rate(u) : double(-INFINITY));
  } else if (quarter == 1) {
    poles.sequence[own].set_angle(exists ? atan2(2 * u.im, 1 - square(u)) : 0);
  } else if (quarter == 2) {
    poles.power[own] = power(inverse * Complex<double>(1 - square(u), 2 * u.im), points);
  } else {
    // dt / (1 - u)
    const C scale = narrowed<C>(double(m.dt(b)) * inverse * conjugate(Complex<double>(1) - u));
    poles.weight[own] = exists ? scale * m.v(b, first + own, column) : C(0);
  }
}

/// The largest rate of all poles, in every thread, with the first group prepared.
__device__ float largest_rate(const RootSumsProblem<C>& m, index_t b, Poles& poles) {
  const int own = static_cast<int>(threadIdx.x);
  float largest = -Exponential::limit;
  // The own one, or what is missing.
  if (own < group) largest = fmax(largest, poles.sequence[own].rate());
  for (index_t n = group + own; n < m.count; n += threads) {
    Exponential other;
    other.set_rate(rate(m.half_step(b, n)));
    largest = fmax(largest, other.rate());
  }
  return block_max(largest, poles.rates);
}

/// Seeds of a chunk of a group: a thread has a pole and a sixteenth of its seeds.
__device__ void make_seeds(const Poles& poles, int chunk, const ColumnScales& scales,
                           Seeds& seeds) {
  const unsigned thread = thread_again();
  const int pole = static_cast<int>(thread % pole_chunk),
            number = static_cast<int>(thread / pole_chunk), lag = number * seed_width;
  const Exponential terms = poles.sequence[chunk * pole_chunk + pole];
  const C high = terms(lag, scales.of_seed(lag));
  if (number < Seeds::lows) {
    const int shift = scales.of_seed(number) - Sums::Right::exponent;
    seeds.put_low(number, pole, terms(number, shift));
  }
  seeds.put_high(number, pole, high);
}

/// 1 / a, not finite for zero and for what is close to the end of the range.
__device__ C inverse(C a) {
  using cauchy::device::fast_reciprocal;
  const float r = fast_reciprocal(fmax(fabs(a.re), fabs(a.im)));
  const C scaled = r * a;
  return r * fast_reciprocal(square(scaled)) * conjugate(scaled);
}

/// conj(g) for a chunk of poles.
__device__ void fill_left(const Poles& poles, int chunk, const Complex<double> (&root)[rows],
                          Sums::Left& left) {
  const auto g = [&](int pole, int row) -> C {
    const Complex<double> z = poles.power[pole], w = root[row];
    const Complex<double> gap(fma(-z.re, w.re, fma(z.im, w.im, 1.)), -fma(z.re, w.im, z.im * w.re));
    return conjugate(poles.weight[pole] * inverse(narrowed<C>(gap)));
  };
  fill<Sums>(left, [&](int step, int pair, int row, C(&top)[2], C(&bottom)[2]) {
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const int pole = chunk * pole_chunk + step * pole_step + 2 * pair + p;
      top[p] = g(pole, row);
      bottom[p] = g(pole, row + 8);
    }
  });
}

/// Puts the sums, times w_L^(l2 k1) and the scales of columns, into shared memory.
__device__ void put(const Sums& sums, const ColumnScales& scales, index_t first_row, index_t length,
                    Transforms& t) {
  const int own = static_cast<int>(threadIdx.x);
  const auto backward = [&](unsigned long long phase) {
    return conjugate(unit_at(Exponential::no_phase + phase));
  };
  {
    constexpr int each = threads / rows;
    const int row = own % rows;
    // k1 l2 < L times a turn rounded to 2^-64.
    const unsigned long long step =
        (~0ull / static_cast<unsigned long long>(length) + 1) *
        static_cast<unsigned long long>((first_row + row) % (length / points));
    const auto twiddle = [&](int l2) {
      const int exponent = min(max(scales.of_seed(l2), -126), 127);
      return power_of_two(exponent) * backward(step * static_cast<unsigned long long>(l2));
    };
    constexpr int lows = seed_width / each, highs = points / seed_width / each;
    const int part = own / rows;
    C low[lows], high[highs];
#pragma unroll
    for (int i = 0; i < lows; ++i) low[i] = twiddle(part + i * each);
#pragma unroll
    for (int i = 0; i < highs; ++i) high[i] = twiddle((part + i * each) * seed_width);
#pragma unroll
    for (int i = 0; i < lows; ++i) t.low[row][part + i * each] = low[i];
#pragma unroll
    for (int i = 0; i < highs; ++i) t.high[row][part + i * each] = high[i];
  }
  if (own < points) t.root[own] = backward(static_cast<unsigned long long>(own) << 57);
  __syncthreads();
  sums.for_each([&](int row, int at, const C(&sum)[4]) {
    const C high = t.high[row][at / seed_width];
#pragma unroll
    for (int v = 0; v < 4; ++v)
      t.value[row][at + v] = sum[v] * (high * t.low[row][at % seed_width + v]);
  });
}

/// Transforms of rows to y: l2 = 16 a + b, k2 = c + 8 d, first over a, times w_128^(b c), then over b. A thread
/// has two of either kind at once.
__device__ void transform_rows(Transforms& t, index_t coarse, index_t existing, C* y,
                               index_t stride) {
  const int row = static_cast<int>(threadIdx.x) % rows, part = static_cast<int>(threadIdx.x) / rows;
  constexpr int parts = threads / rows;
  C* const value = t.value[row];
  for (int first = part; first < 16; first += 2 * parts) {
    C x[2][8];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int b = first + i * parts;
#pragma unroll
      for (int a = 0; a < 8; ++a) x[i][a] = value[16 * a + b];
      transform(x[i]);
#pragma unroll
      for (int c = 1; c < 8; ++c) x[i][reversed<8>(c)] *= t.root[b * c];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int c = 0; c < 8; ++c) value[16 * c + first + i * parts] = x[i][reversed<8>(c)];
    }
  }
  __syncthreads();
  static_assert(2 * parts == 8);
  C x[2][16];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int b = 0; b < 16; ++b) x[i][b] = value[16 * (part + i * parts) + b];
    transform(x[i]);
  }
  if (row >= existing) return;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    C* result = y + (row + coarse * (part + i * parts)) * stride;
#pragma unroll
    for (int d = 0; d < 16; ++d) {
      *result = x[i][reversed<16>(d)];
      result += 8 * coarse * stride;
    }
  }
}

__global__ void __launch_bounds__(threads, 2)
    split(const __grid_constant__ RootSumsProblem<C> m, index_t turns) {
  Memory& memory = *dynamic_shared<Memory>();
  Poles& poles = memory.poles;
  const index_t coarse = m.length / points;  // L1
  const index_t tiles = (coarse + rows - 1) / rows, work = m.batch * m.columns * tiles;
  const index_t share = (work + gridDim.x * turns - 1) / (gridDim.x * turns) * turns;
  index_t prepared = -1;
  ColumnScales scales(0);
  for (index_t turn = 0; turn < share; ++turn) {
    const index_t unit = (turn / turns * gridDim.x + blockIdx.x) * turns + turn % turns;
    if (unit >= work) break;
    const index_t first_row = unit % tiles * rows, entry = unit / tiles;
    const index_t column = entry % m.columns, b = entry / m.columns;
    Sums sums;
    Tables& t = memory.tables;
    if (entry != prepared) {
      prepare(m, b, column, 0, poles);
      scales = ColumnScales(largest_rate(m, b, poles));
    }
    // Later groups take the place of the first one.
    prepared = m.count > group ? -1 : entry;
    if (threadIdx.x < rows) {
      double s, c;
      sincospi(-2 * static_cast<double>((first_row + threadIdx.x) % coarse) /
                   static_cast<double>(coarse),
               &s, &c);
      t.root[threadIdx.x] = {c, s};
    }
    for (index_t start = 0; start < m.count; start += group) {
      const int count = static_cast<int>(min(m.count - start, index_t{group}));
      if (start > 0) prepare(m, b, column, start, poles);
      __syncthreads();
      add_chunks(
          sums, t.left, t.right, (count + pole_chunk - 1) / pole_chunk,
          [&](int chunk) { make_seeds(poles, chunk, scales, t.seeds); },
          [&](int chunk) {
            fill_left(poles, chunk, t.root, t.left);
            fill(t.right, t.seeds);
          });
    }
    __syncthreads();
    put(sums, scales, first_row, m.length, memory.transforms);
    __syncthreads();
    transform_rows(memory.transforms, coarse, coarse - first_row, &m.y(b, first_row, column),
                   m.y.stride[1]);
    __syncthreads();
  }
}

}  // namespace

void root_sums_split(const char* operation, int processors, cudaStream_t stream,
                     const RootSumsProblem<C>& m) {
  const index_t work = m.batch * m.columns * ((m.length / points + rows - 1) / rows);
  // Neighbouring tiles share what is prepared of their poles, where there are enough of them.
  const index_t turns = work >= 8 * processors ? 2 : 1;
  launch(operation, split,
         Grid{persistent_blocks(work, turns, processors), threads, sizeof(Memory)}, stream, m,
         turns);
}

}  // namespace structmat::gpu
