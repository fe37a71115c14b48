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

#include <cstdlib>

namespace structmat::gpu {
namespace {

using C = Complex<float>;
using Sums = SplitSums<C>;

constexpr int threads = Sums::threads, rows = Sums::rows, points = Sums::columns;
constexpr int group = 64;  // poles that are prepared together
static_assert(4 * rows == threads && points == 128);

template <int buffers>
struct Tables {
  struct {
    Sums::Left left;
    Sums::Right right;
  } tables[buffers];
  Seeds seeds[buffers];
  Complex<double> power[group];  // zeta^128
  Complex<double> root[rows];    // w_L1^k1
  Exponential sequence[group];   // zeta^l
  C weight[group];               // v'
  float rates[threads / 32];
};
struct Transforms {
  // w_L^(k1 l2) for l2 < 8, and for multiples of 8, with the scales of these columns.
  C low[rows][seed_width], high[rows][points / seed_width];
  C root[points];  // w_128^j
  C value[rows][points + 1];
};
template <int buffers>
union Memory {
  Tables<buffers> tables;
  Transforms transforms;
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

/// zeta = (1 + u) / (1 - u) as an exponential.
__device__ Exponential sequence(Complex<double> u) {
  const double rate = 0.5 * log1p(4 * u.re / square(Complex<double>(1) - u));
  return Exponential(rate, atan2(2 * u.im, 1 - square(u)));
}

/// 1 / a, not finite for zero and for what is close to the end of the range.
__device__ C inverse(C a) {
  using cauchy::device::fast_reciprocal;
  const float r = fast_reciprocal(fmax(fabs(a.re), fabs(a.im)));
  const C scaled = r * a;
  return r * fast_reciprocal(square(scaled)) * conjugate(scaled);
}

template <int variant>
__global__ void __launch_bounds__(threads, 2) split(const __grid_constant__ RootSumsProblem<C> m) {
  constexpr int buffers = variant == 0 ? 1 : 2;
  auto& memory = *dynamic_shared<Memory<buffers>>();
  const int own = static_cast<int>(threadIdx.x);
  const index_t coarse = m.length / points;  // L1
  const index_t tiles = (coarse + rows - 1) / rows, work = m.batch * m.columns * tiles;
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t first_row = unit % tiles * rows, entry = unit / tiles;
    const index_t column = entry % m.columns, b = entry / m.columns;
    Sums sums;
    ColumnScales scales(0);
    {
      Tables<buffers>& t = memory.tables;
      const auto prepare = [&](index_t n) {
        const Complex<double> u = m.half_step(b, n);
        const Complex<double> inverse_gap = reciprocal(Complex<double>(1) - u);
        t.sequence[own] = sequence(u);
        t.power[own] = power((Complex<double>(1) + u) * inverse_gap, points);
        t.weight[own] = narrowed<C>(double(m.dt(b)) * inverse_gap) * m.v(b, n, column);
      };
      float rate = -Exponential::limit;
      if (own < group && own < m.count) {
        prepare(own);
        rate = fmax(rate, t.sequence[own].rate());
      }
      for (index_t n = group + own; n < m.count; n += threads)
        rate = fmax(rate, sequence(m.half_step(b, n)).rate());
      if (own < rows) {
        double s, c;
        sincospi(-2 * static_cast<double>((first_row + own) % coarse) / static_cast<double>(coarse),
                 &s, &c);
        t.root[own] = {c, s};
      }
      scales = ColumnScales(block_max(rate, t.rates));
      for (index_t first = 0; first < m.count; first += group) {
        const index_t poles = m.count - first;
        if (first > 0) {
          if (own < group && own < poles) prepare(first + own);
          __syncthreads();
        }
        const auto seed = [&](int chunk) {
          Seeds& seeds = t.seeds[chunk % buffers];
          const unsigned thread = thread_again();
          const int pole = static_cast<int>(thread % pole_chunk),
                    number = static_cast<int>(thread / pole_chunk);
          const bool exists = chunk * pole_chunk + pole < poles;
          const Exponential terms = t.sequence[exists ? chunk * pole_chunk + pole : 0];
          const auto existing = [&](C term) { return exists ? term : C(0); };
          if (number < Seeds::lows) {
            const int shift = scales.of_seed(number) - Sums::Right::exponent;
            seeds.put_low(number, pole, existing(terms(number, shift)));
          }
          const int lag = number * seed_width;
          seeds.put_high(number, pole, existing(terms(lag, scales.of_seed(lag))));
        };
        const auto tabulate = [&](int chunk) {
          const auto g = [&](int pole, int row) -> C {
            if (pole >= poles) return 0;
            const Complex<double> z = t.power[pole], root = t.root[row];
            const Complex<double> gap(fma(-z.re, root.re, fma(z.im, root.im, 1.)),
                                      -fma(z.re, root.im, z.im * root.re));
            return conjugate(t.weight[pole] * inverse(narrowed<C>(gap)));
          };
          fill<Sums>(t.tables[chunk % buffers].left,
                     [&](int step, int pair, int row, C(&top)[2], C(&bottom)[2]) {
#pragma unroll
                       for (int p = 0; p < 2; ++p) {
                         const int pole = chunk * pole_chunk + step * pole_step + 2 * pair + p;
                         top[p] = g(pole, row);
                         bottom[p] = g(pole, row + 8);
                       }
                     });
          fill(t.tables[chunk % buffers].right, t.seeds[chunk % buffers]);
        };
        const int chunks =
            static_cast<int>((min(poles, index_t{group}) + pole_chunk - 1) / pole_chunk);
        add_chunks<variant>(sums, t.tables, chunks, seed, tabulate);
      }
      __syncthreads();
    }

    Transforms& t = memory.transforms;
    // L is no more than 2^32 here: k1 l2 turns of it are off by less than 2^-32.
    const unsigned long long turn = ~0ull / static_cast<unsigned long long>(m.length) + 1;
    const auto backward = [&](unsigned long long phase) {
      return conjugate(unit_at(Exponential::no_phase + phase));
    };
    {
      const int row = own % rows;
      const unsigned long long step =
          turn * static_cast<unsigned long long>((first_row + row) % coarse);
      const auto twiddle = [&](int l2) {
        const int exponent = min(max(scales.of_seed(l2), -126), 127);
        return power_of_two(exponent) * backward(step * static_cast<unsigned long long>(l2));
      };
      constexpr int each = threads / rows;
      for (int s = own / rows; s < seed_width; s += each) t.low[row][s] = twiddle(s);
      for (int s = own / rows; s < points / seed_width; s += each)
        t.high[row][s] = twiddle(s * seed_width);
    }
    if (own < points) t.root[own] = backward(static_cast<unsigned long long>(own) << 57);
    __syncthreads();
    sums.for_each([&](int row, int at, const C(&sum)[4]) {
      const C high = t.high[row][at / seed_width];
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        t.value[row][at + v] = sum[v] * (high * t.low[row][at % seed_width + v]);
      }
    });
    __syncthreads();
    // l2 = 16 a + b, k2 = c + 8 d: transforms over a, times w_128^(b c), then over b.
    for (int task = own; task < rows * 16; task += threads) {
      const int row = task % rows, low = task / rows;
      C x[8];
#pragma unroll
      for (int a = 0; a < 8; ++a) x[a] = t.value[row][16 * a + low];
      transform(x);
#pragma unroll
      for (int c = 0; c < 8; ++c) t.value[row][16 * c + low] = x[reversed<8>(c)] * t.root[low * c];
    }
    __syncthreads();
    for (int task = own; task < rows * 8; task += threads) {
      const int row = task % rows, c = task / rows;
      C x[16];
#pragma unroll
      for (int low = 0; low < 16; ++low) x[low] = t.value[row][16 * c + low];
      transform(x);
      if (first_row + row >= coarse) continue;
      C* result = &m.y(b, first_row + row + coarse * c, column);
#pragma unroll
      for (int d = 0; d < 16; ++d) {
        *result = x[reversed<16>(d)];
        result += 8 * coarse * m.y.stride[1];
      }
    }
    __syncthreads();
  }
}

template <int variant>
void start(const char* operation, int processors, cudaStream_t stream,
           const RootSumsProblem<C>& m) {
  const index_t work = m.batch * m.columns * ((m.length / points + rows - 1) / rows);
  launch(operation, split<variant>,
         Grid{persistent_blocks(work, 1, processors), threads,
              sizeof(Memory < variant == 0 ? 1 : 2 >)},
         stream, m);
}

}  // namespace

void root_sums_split(const char* operation, int processors, cudaStream_t stream,
                     const RootSumsProblem<C>& m) {
  const char* const variant = std::getenv("STRUCTMAT_VARIANT");
  switch (variant ? *variant : '2') {
    case '0':
      return start<0>(operation, processors, stream, m);
    case '1':
      return start<1>(operation, processors, stream, m);
    default:
      return start<2>(operation, processors, stream, m);
  }
}

}  // namespace structmat::gpu
