/// \file
/// Fourier transforms of 16, 32, ..., 8192 numbers by the threads of a block: 16 numbers a thread in
/// registers, exchanged through shared memory.
///
/// forward takes numbers in natural order (decimation in frequency) and leaves the spectrum in an order
/// of its own, which backward (decimation in time) takes back: what is multiplied in between needs no
/// natural order. Each pass writes and reads its own places of shared memory, so that one barrier an
/// exchange is enough, also from one transform to the next in the opposite direction; two in the same
/// direction need a barrier between them. Neither is normalised.
///
/// The first pass may carry a twist, a factor exp(i pi sign j / (2 n)) of element j: the part of j that
/// a thread shares joins its other factors, the rest is 16 constants (Twist16).
///
/// Source: Van Loan, "Computational Frameworks for the Fast Fourier Transform" (1992), 1.4, 1.9.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "core/complex.cuh"

namespace structmat::gpu {

/// Numbers that a thread carries, and the radix of all passes but the last.
inline constexpr int points = 16;

/// exp(-2 pi i numerator / denominator), rounded once or twice.
template <class R>
Complex<R> root_of_unity(index_t numerator, index_t denominator) {
  index_t rest = numerator % denominator;
  if (rest < 0) rest += denominator;
  // Eighths of a turn are taken apart, where sine and cosine are exact.
  const index_t eighth = 8 * rest / denominator;
  const double turn = static_cast<double>(8 * rest - eighth * denominator) /
                      static_cast<double>(denominator) * (std::numbers::pi / 4);
  const double c = std::cos(turn), s = std::sin(turn);
  const double h = std::numbers::sqrt2 / 2;
  const double corner_re[] = {1, h, 0, -h, -1, -h, 0, h};
  const double corner_im[] = {0, h, 1, h, 0, -h, -1, -h};
  const double a = corner_re[eighth], b = corner_im[eighth];
  return {static_cast<R>(a * c - b * s), static_cast<R>(-(b * c + a * s))};
}

/// Factors of the 16 results of a pass, w_{4 a + b} = low_b high_a (high_0 = 1), of a table (7, count)
/// by columns.
template <class R>
struct Factors {
  static constexpr int slots = 7;
  Complex<R> low[4], high[3];

  Factors() = default;
  __device__ Factors(const Complex<R>* table, index_t count, index_t column) {
#pragma unroll
    for (int b = 0; b < 4; ++b) low[b] = table[b * count + column];
#pragma unroll
    for (int a = 0; a < 3; ++a) high[a] = table[(4 + a) * count + column];
  }

  /// All factors times `common`.
  __device__ void scale(Complex<R> common) {
#pragma unroll
    for (int b = 0; b < 4; ++b) low[b] *= common;
  }

  /// v_j *= w_j, or its conjugate. Plain: low_0 is 1.
  template <bool Conjugate, bool Plain>
  __device__ void multiply(Complex<R> (&v)[points]) const {
#pragma unroll
    for (int a = 0; a < 4; ++a) {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        if (Plain && a == 0 && b == 0) continue;
        const Complex<R> w = a == 0 ? low[b] : Plain && b == 0 ? high[a - 1] : low[b] * high[a - 1];
        v[4 * a + b] *= conjugate_if(Conjugate, w);
      }
    }
  }

  /// Appends the table of exp(-2 pi i column (4 j + shift) / denominator), j < 16, to one of columns.
  static void append(std::vector<Complex<R>>& table, index_t count, index_t shift,
                     index_t denominator) {
    for (int slot = 0; slot < slots; ++slot) {
      const index_t j = slot < 4 ? slot : 4 * (slot - 3);
      // low carries the shift, high does not.
      const index_t power = 4 * j + (slot < 4 ? shift : 0);
      for (index_t column = 0; column < count; ++column)
        table.push_back(root_of_unity<R>(column * power, denominator));
    }
  }
};

namespace dft {

template <bool Forward, class R>
__device__ void two(Complex<R>& a, Complex<R>& b) {
  const Complex<R> sum = a + b;
  b = a - b;
  a = sum;
}

template <bool Forward, class R>
__device__ void four(Complex<R>& a, Complex<R>& b, Complex<R>& c, Complex<R>& d) {
  const Complex<R> even = a + c, odd = a - c, sum = b + d, rest = b - d;
  const Complex<R> turned = Forward ? Complex<R>{rest.im, -rest.re} : Complex<R>{-rest.im, rest.re};
  a = even + sum;
  b = odd + turned;
  c = even - sum;
  d = odd - turned;
}

/// v exp(-2 pi i power / 16), or its conjugate.
template <bool Forward, class R>
__device__ Complex<R> turned(Complex<R> v, int power) {
  constexpr R h = R(0.70710678118654752440), c = R(0.92387953251128675613),
              s = R(0.38268343236508977173);
  switch (power) {
    case 0:
      return v;
    case 4:
      return Forward ? Complex<R>{v.im, -v.re} : Complex<R>{-v.im, v.re};
    case 1:
      return v * conjugate_if(!Forward, Complex<R>{c, -s});
    case 2:
      return v * conjugate_if(!Forward, Complex<R>{h, -h});
    case 3:
      return v * conjugate_if(!Forward, Complex<R>{s, -c});
    case 6:
      return v * conjugate_if(!Forward, Complex<R>{-h, -h});
    default:  // 9
      return v * conjugate_if(!Forward, Complex<R>{-c, s});
  }
}

/// 16 numbers, in natural order on both sides.
template <bool Forward, class R>
__device__ void sixteen(Complex<R> (&v)[points]) {
#pragma unroll
  for (int b = 0; b < 4; ++b) four<Forward>(v[b], v[4 + b], v[8 + b], v[12 + b]);
#pragma unroll
  for (int a = 1; a < 4; ++a) {
#pragma unroll
    for (int b = 1; b < 4; ++b) v[4 * a + b] = turned<Forward>(v[4 * a + b], a * b);
  }
#pragma unroll
  for (int a = 0; a < 4; ++a) four<Forward>(v[4 * a], v[4 * a + 1], v[4 * a + 2], v[4 * a + 3]);
#pragma unroll
  for (int a = 0; a < 4; ++a) {
#pragma unroll
    for (int b = a + 1; b < 4; ++b) {
      const Complex<R> swapped = v[4 * a + b];
      v[4 * a + b] = v[4 * b + a];
      v[4 * b + a] = swapped;
    }
  }
}

/// The last pass, over neighbours in groups of 2, 4 or 8. Backward undoes forward step by step.
template <bool Forward, class R>
__device__ void groups(Complex<R> (&v)[points], int size) {
  if (size == 2) {
#pragma unroll
    for (int g = 0; g < points; g += 2) two<Forward>(v[g], v[g + 1]);
  } else if (size == 4) {
#pragma unroll
    for (int g = 0; g < points; g += 4) four<Forward>(v[g], v[g + 1], v[g + 2], v[g + 3]);
  } else {
#pragma unroll
    for (int g = 0; g < points; g += 8) {
      if (Forward) {
        four<true>(v[g], v[g + 2], v[g + 4], v[g + 6]);
        four<true>(v[g + 1], v[g + 3], v[g + 5], v[g + 7]);
      }
#pragma unroll
      for (int a = 0; a < 4; ++a) {
        if (Forward) v[g + 2 * a + 1] = turned<true>(v[g + 2 * a + 1], 2 * a);
        two<Forward>(v[g + 2 * a], v[g + 2 * a + 1]);
        if (!Forward) v[g + 2 * a + 1] = turned<false>(v[g + 2 * a + 1], 2 * a);
      }
      if (!Forward) {
        four<false>(v[g], v[g + 2], v[g + 4], v[g + 6]);
        four<false>(v[g + 1], v[g + 3], v[g + 5], v[g + 7]);
      }
    }
  }
}

}  // namespace dft

/// exp(i pi j / 32): what element j of a thread has of the twist alone.
struct Twist16 {
  static __host__ __device__ constexpr double cosine(int j) {
    constexpr double values[] = {1.0,
                                 0.99518472667219688624,
                                 0.98078528040323044913,
                                 0.95694033573220886494,
                                 0.92387953251128675613,
                                 0.88192126434835502971,
                                 0.83146961230254523708,
                                 0.77301045336273696081,
                                 0.70710678118654752440,
                                 0.63439328416364549822,
                                 0.55557023301960222474,
                                 0.47139673682599764856,
                                 0.38268343236508977173,
                                 0.29028467725446236764,
                                 0.19509032201612826785,
                                 0.09801714032956060199};
    return values[j];
  }
  static __host__ __device__ constexpr double sine(int j) {
    return j == 0 ? 0.0 : cosine(points - j);
  }

  /// exp(sign i pi j / 32)
  template <class R>
  static __device__ Complex<R> power(int j, R sign) {
    return {static_cast<R>(cosine(j)), sign * static_cast<R>(sine(j))};
  }
};

/// Where position p of one of several transforms of a block, of length n, lies: a gap in every 16
/// numbers keeps all passes free of bank conflicts.
struct PaddedPlace {
  int first;

  PaddedPlace() = default;
  __device__ PaddedPlace(int transform, int n) : first(transform * extent(n)) {}
  static __host__ __device__ constexpr int extent(int n) { return n + n / points; }
  __device__ int operator()(int p) const { return first + p + p / points; }

  /// Do positions `step` apart, as passes have them, lie evenly, and how far apart? (Those 1 apart
  /// begin at multiples of 16.)
  static __device__ bool even(int step) { return step == 1 || step % points == 0; }
  __device__ int distance(int step) const { return step + step / points; }
};

/// Where it lies for transforms along columns, `width` of which stand side by side.
struct ColumnPlace {
  int width, column;
  __device__ int operator()(int p) const { return p * width + column; }
  static __device__ bool even(int) { return true; }
  __device__ int distance(int step) const { return step * width; }
};

/// One transform as one of its n / 16 threads sees it.
template <class R, class Place>
struct BlockTransform {
  int n;               ///< a power of two
  int thread;          ///< of n / 16
  Complex<R>* shared;  ///< numbers at place(0), ..., place(n - 1)
  Place place;
  const Complex<R>* first;  ///< factors of the first pass, (7, n / 16)
  const Complex<R>* later;  ///< those of passes over blocks of m < n, (7, m / 16), from 7 m / 16 on

  // Factors are loaded in front of the barrier before their pass, to arrive while threads wait.

  /// v: the elements thread + j n / 16 -> 16 numbers of the spectrum. All threads of the block.
  __device__ void forward(Complex<R> (&v)[points]) const {
    Factors<R> factors = load_factors(n);
    dft::sixteen<true>(v);
    factors.template multiply<false, false>(v);
    for (int m = n; m > points;) {
      put(v, m);
      m /= points;
      if (m > points) factors = load_factors(m);
      __syncthreads();
      get(v, m < points ? points : m);
      if (m < points) {
        dft::groups<true>(v, m);
        continue;
      }
      dft::sixteen<true>(v);
      if (m > points) factors.template multiply<false, true>(v);
    }
  }

  /// The opposite, times n.
  __device__ void backward(Complex<R> (&v)[points]) const {
    Factors<R> factors;
    int m = n;
    while (m > points) m /= points;
    if (m < points) {
      dft::groups<false>(v, m);
      m *= points;
      if (m > points) factors = load_factors(m);
      exchange(v, points, m);
    } else if (m == n) {
      factors = load_factors(n);
    }
    while (m < n) {
      if (m > points) factors.template multiply<true, true>(v);
      dft::sixteen<false>(v);
      factors = load_factors(m * points);
      exchange(v, m, m * points);
      m *= points;
    }
    factors.template multiply<true, false>(v);
    dft::sixteen<false>(v);
  }

  /// The frequency that position p of the spectrum has: its digits in the opposite order.
  static index_t frequency(index_t n, index_t p) {
    index_t k = 0, weight = 1;
    for (index_t m = n; m > 1;) {
      const index_t radix = std::min<index_t>(m, points);
      m /= radix;
      k += p / m * weight;
      p %= m;
      weight *= radix;
    }
    return k;
  }

  /// Tables: `first` with a twist of this sign (0: none), and `later`.
  static std::vector<Complex<R>> first_table(index_t n, int sign) {
    std::vector<Complex<R>> table;
    Factors<R>::append(table, n / points, -sign, 4 * n);
    return table;
  }
  static std::vector<Complex<R>> later_table(index_t n) {
    std::vector<Complex<R>> table(later_size(n), Complex<R>(0));
    for (index_t m = n / points; m > points; m /= points) {
      std::vector<Complex<R>> own;
      Factors<R>::append(own, m / points, 0, 4 * m);
      std::copy(own.begin(), own.end(), table.begin() + Factors<R>::slots * (m / points));
    }
    return table;
  }
  static constexpr index_t later_size(index_t n) {
    return 2 * Factors<R>::slots * (n / (points * points)) + 1;
  }

 private:
  /// Of the pass over blocks of m.
  __device__ Factors<R> load_factors(int m) const {
    const int count = m / points;
    if (m == n) return Factors<R>(first, count, thread);
    return Factors<R>(later + Factors<R>::slots * count, count, thread % count);
  }
  __device__ int base(int m) const {
    const int count = m / points;
    return thread / count * m + thread % count;
  }
  __device__ void put(const Complex<R> (&v)[points], int m) const {
    each(m, [&](int j, int at) { shared[at] = v[j]; });
  }
  __device__ void get(Complex<R> (&v)[points], int m) const {
    each(m, [&](int j, int at) { v[j] = shared[at]; });
  }
  /// visit(j, where number j of the thread lies) in the pass over blocks of m.
  template <class Visit>
  __device__ void each(int m, const Visit& visit) const {
    const int from = base(m), step = m / points;
    if (Place::even(step)) {
      const int at = place(from), by = place.distance(step);
#pragma unroll
      for (int j = 0; j < points; ++j) visit(j, at + j * by);
    } else {
#pragma unroll
      for (int j = 0; j < points; ++j) visit(j, place(from + j * step));
    }
  }
  __device__ void exchange(Complex<R> (&v)[points], int from, int to) const {
    put(v, from);
    __syncthreads();
    get(v, to);
  }
};

}  // namespace structmat::gpu
