// Cauchy sums on mapped roots of unity as products of tables and short transforms, in float.
//
// With l = 128 l1 + l2 and k = k1 + L1 k2, L1 = L / 128, the transform of the sequence v' zeta^l / (1 - zeta^L) is
//   sum_l2 w_128^(l2 k2) [ w_L^(l2 k1) sum_n g_n(k1) zeta_n^l2 ],   g_n(k1) = v'_n / (1 - zeta_n^128 w_L1^k1),
// where v' = v dt / (1 - u): the sum over l1 is geometric, so that 1 - zeta^L never appears. The difference in
// g is formed in double; it is smaller than 1 by what decays over 128 steps.
//
// A block takes 64 values of k1 of one column: the inner sum on tensor cores (SplitSums), into shared memory,
// times w_L^(l2 k1), then transforms of length 128 = 8 x 16 in registers.
#include "cauchy/roots_of_unity.cuh"
#include "core/shared.cuh"
#include "vandermonde/geometric.cuh"
#include "vandermonde/split_sums.cuh"

namespace structmat::gpu {
namespace {

using C = Complex<float>;
using Sums = SplitSums<C>;

constexpr int threads = Sums::threads, rows = Sums::rows, points = Sums::columns;
constexpr int chunk = Sums::chunk, high_seeds = points / seed_width;
static_assert(rows == 64 && points == 128 && threads == 256);

struct Tables {
  C weight[chunk];               // v'
  Complex<double> power[chunk];  // zeta^128
  Complex<double> root[rows];    // w_L1^k1
  C seed[chunk][seed_width + high_seeds];
  Sums::Table coarse, fine;
};
struct Transforms {
  C twiddle[rows][seed_width + high_seeds + 1];  // w_L^(k1 l2) for l2 < 8, and multiples of 8
  C root[points];                                // w_128^j
  C value[rows][points + 1];
};
union Memory {
  Tables tables;
  Transforms transforms;
};

/// exp(-2 pi i turns), 0 <= turns <= 1.
__device__ C backward_turn(double turns) {
  const float head = static_cast<float>(2 * turns);
  const float rest = static_cast<float>(3.14159265358979323846 * (2 * turns - double(head)));
  float s, c;
  sincospi(head, &s, &c);
  return {fma(-rest, s, c), -fma(rest, c, s)};
}

/// x := its transform, with X_k at the index with k's bits in the opposite order.
template <int N>
__device__ void transform(C (&x)[N]) {
  // exp(-2 pi i j / 16)
  constexpr float cosine[8] = {1, .92387953f,  .70710678f,  .38268343f,
                               0, -.38268343f, -.70710678f, -.92387953f};
  constexpr float sine[8] = {0,  -.38268343f, -.70710678f, -.92387953f,
                             -1, -.92387953f, -.70710678f, -.38268343f};
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (i & half) continue;
      const int j = i % half * (8 / half);
      const C a = x[i], b = x[i + half];
      x[i] = a + b;
      x[i + half] = (a - b) * C(cosine[j], sine[j]);
    }
  }
}
template <int N>
__device__ constexpr int reversed(int k) {
  int result = 0;
  for (int bit = 1; bit < N; bit *= 2) result = 2 * result + (k & bit ? 1 : 0);
  return result;
}

__device__ void tabulate(const RootSumsProblem<C>& m, index_t b, index_t column, index_t first,
                         Tables& tables) {
  const int own = static_cast<int>(threadIdx.x);
  constexpr int each = seed_width + high_seeds;
  const auto map = [&](Complex<double> u) {
    return (Complex<double>(1) + u) * reciprocal(Complex<double>(1) - u);
  };
  if (own < chunk && first + own < m.count) {
    const Complex<double> u = m.half_step(b, first + own);
    tables.power[own] = power(map(u), points);
    const Complex<double> scale = double(m.dt(b)) * reciprocal(Complex<double>(1) - u);
    tables.weight[own] = narrowed<C>(scale) * m.v(b, first + own, column);
  }
  for (int entry = own; entry < chunk * each; entry += threads) {
    const int n = entry % chunk, s = entry / chunk;
    const index_t exponent = s < seed_width ? s : (s - seed_width) * seed_width;
    tables.seed[n][s] =
        first + n < m.count ? narrowed<C>(power(map(m.half_step(b, first + n)), exponent)) : C(0);
  }
  __syncthreads();
  for (int entry = own; entry < chunk * points; entry += threads) {
    const int n = entry / points, at = entry % points;
    tables.fine[n][at] =
        tables.seed[n][at % seed_width] * tables.seed[n][seed_width + at / seed_width];
  }
  for (int entry = own; entry < chunk * rows; entry += threads) {
    const int n = entry / rows, row = entry % rows;
    C g(0);
    if (first + n < m.count) {
      const Complex<double> gap = Complex<double>(1) - tables.power[n] * tables.root[row];
      g = conjugate(tables.weight[n] * reciprocal(narrowed<C>(gap)));
    }
    tables.coarse[n][row] = g;
  }
  __syncthreads();
}

__global__ void __launch_bounds__(threads, 2) split(const __grid_constant__ RootSumsProblem<C> m) {
  Memory& memory = *dynamic_shared<Memory>();
  const int own = static_cast<int>(threadIdx.x);
  const index_t coarse = m.length / points;  // L1
  const index_t tiles = (coarse + rows - 1) / rows, work = m.batch * m.columns * tiles;
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t first_row = unit % tiles * rows, entry = unit / tiles;
    const index_t column = entry % m.columns, b = entry / m.columns;
    __syncthreads();
    if (own < rows) {
      double s, c;
      sincospi(-2 * static_cast<double>((first_row + own) % coarse) / static_cast<double>(coarse),
               &s, &c);
      memory.tables.root[own] = {c, s};
    }
    Sums sums;
    for (index_t first = 0; first < m.count; first += chunk) {
      tabulate(m, b, column, first, memory.tables);
      sums.add(memory.tables.coarse, memory.tables.fine);
      __syncthreads();
    }
    __syncthreads();

    Transforms& t = memory.transforms;
    constexpr int each = seed_width + high_seeds;
    for (int at = own; at < rows * each; at += threads) {
      const int row = at % rows, s = at / rows;
      const index_t l2 = s < seed_width ? s : (s - seed_width) * seed_width;
      t.twiddle[row][s] = backward_turn(static_cast<double>((first_row + row) % coarse * l2) /
                                        static_cast<double>(m.length));
    }
    if (own < points) t.root[own] = backward_turn(own / double(points));
    __syncthreads();
    sums.for_each([&](int row, int at, C one, C other) {
      const C* const twiddle = t.twiddle[row];
      const C high = twiddle[seed_width + at / seed_width];
      t.value[row][at] = one * (high * twiddle[at % seed_width]);
      t.value[row][at + 1] = other * (high * twiddle[at % seed_width + 1]);
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
#pragma unroll
      for (int d = 0; d < 16; ++d) {
        m.y(b, first_row + row + coarse * (c + 8 * d), column) = x[reversed<16>(d)];
      }
    }
  }
}

}  // namespace

void root_sums_split(const char* operation, int processors, cudaStream_t stream,
                     const RootSumsProblem<C>& m) {
  const index_t work = m.batch * m.columns * ((m.length / points + rows - 1) / rows);
  launch(operation, split, Grid{persistent_blocks(work, 1, processors), threads, sizeof(Memory)},
         stream, m);
}

}  // namespace structmat::gpu
