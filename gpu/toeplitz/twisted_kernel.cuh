/// \file
/// Kernels for products by twisted transforms,
///   A = Re D^-1 F^-1 diag(F D a) F D,  D = diag(exp(i pi j / 2L)),  a_l = c_l - i c_{l-L},
/// complex A: the mean of this matrix and of that with conjugate D and i, the two sheets.
///
/// L up to what a block holds: apply_block does all of it. Longer, L = n1 n2: element j1 n2 + j2 of a
/// column passes through
///   spread         transforms over j1, twisted;        factors w_L^(q j2);  -> z[q][j2]
///   multiply_rows  transforms over j2, symbol, and back;                    z[q][j2]
///   gather         conjugate factors, transforms over q, without the twist -> y
/// where q is in the order of the block's transform, and the symbol in that of both.
#pragma once

#include "core/shared.cuh"
#include "fft/block_transform.cuh"
#include "toeplitz/operand.cuh"

namespace structmat::toeplitz::device {

using gpu::BlockTransform;
using gpu::ColumnPlace;
using gpu::Factors;
using gpu::PaddedPlace;
using gpu::points;
using gpu::Twist16;

/// The longest transform of a block, and the most threads: shared memory of 68 KiB.
template <class R>
inline constexpr int longest_block = sizeof(R) == 4 ? 8192 : 4096;
template <class R>
inline constexpr int most_threads = longest_block<R> / points;
/// Short transforms share blocks of this many threads.
inline constexpr int least_threads = 128;

template <class T>
inline constexpr int sheet_count = gpu::is_complex<T> ? 2 : 1;

/// Of the twist of a sheet.
template <class R>
__device__ R sign_of(int sheet) {
  return sheet == 0 ? R(1) : R(-1);
}

/// Tables of transforms of one length.
template <class R>
struct Tables {
  const Complex<R>* first;  ///< (sheets, 7, n / 16), or without sheets where there is no twist
  index_t first_sheet;      ///< between sheets
  const Complex<R>* later;
};

/// Threads of a block in groups of n / 16, each with a transform of its own.
template <class R>
struct Group {
  int per, slot, thread;
  index_t stride;  ///< transforms that the grid does at once
  index_t begin;

  __device__ explicit Group(int n)
      : per(n / points),
        slot(static_cast<int>(threadIdx.x) / per),
        thread(static_cast<int>(threadIdx.x) % per) {
    const index_t slots = blockDim.x / per;
    stride = slots * gridDim.x;
    begin = slots * blockIdx.x;
  }
  /// The threads of a block go through the same number of rounds, for its barriers; those without work
  /// do the last unit over again, without writing.
  template <class Work>
  __device__ void each(index_t count, const Work& work) const {
    for (index_t block = begin; block < count; block += stride) {
      const index_t own = block + slot;
      work(own < count ? own : count - 1, own < count);
    }
  }
  __device__ BlockTransform<R, PaddedPlace> transform(int n, const Tables<R>& tables) const {
    return {
        n,           thread, gpu::dynamic_shared<Complex<R>>(), PaddedPlace(slot, n), tables.first,
        tables.later};
  }
};

/// v := x times the part of the twist that differs between the numbers of a thread.
template <class T, class R>
__device__ Complex<R> twisted(T x, int j, R sign) {
  const Complex<R> w = Twist16::power<R>(j, sign);
  if constexpr (gpu::is_complex<T>)
    return x * w;
  else
    return {x * w.re, x * w.im};
}

/// What one sheet adds to y: v without the twist, or the real part of that.
template <class T, class R>
__device__ T untwisted(Complex<R> v, int j, R sign) {
  const Complex<R> w = Twist16::power<R>(j, sign);
  if constexpr (gpu::is_complex<T>)
    return v * gpu::conjugate(w);
  else
    return v.re * w.re + v.im * w.im;
}

/// v *= symbol, which lies in the order of registers.
template <class R>
__device__ void multiply_symbol(const Complex<R>* symbol, int per, int thread, bool conjugated,
                                Complex<R> (&v)[points]) {
#pragma unroll
  for (int j = 0; j < points; ++j) v[j] *= gpu::conjugate_if(conjugated, symbol[j * per + thread]);
}

template <class T>
struct BlockProblem {
  using R = gpu::real_of_t<T>;
  Input<T> x;
  Output<T> y;
  Tables<R> tables;
  const Complex<R>* symbol;  ///< (batch, sheets, n)
  index_t symbol_batch;
  int n;
  index_t columns, k;
  bool adjoint;
};

template <class T>
__global__ void __launch_bounds__(most_threads<gpu::real_of_t<T>>)
    apply_block(const __grid_constant__ BlockProblem<T> m) {
  using R = gpu::real_of_t<T>;
  const Group<R> group(m.n);
  auto transform = group.transform(m.n, m.tables);
  group.each(m.columns, [&](index_t unit, bool writes) {
    const Column column = column_of(unit, m.k);
    for (int sheet = 0; sheet < sheet_count<T>; ++sheet) {
      const R sign = sign_of<R>(sheet);
      transform.first = m.tables.first + sheet * m.tables.first_sheet;
      Complex<R> v[points];
#pragma unroll
      for (int j = 0; j < points; ++j)
        v[j] = twisted(m.x(column, group.thread + j * group.per), j, sign);
      transform.forward(v);
      multiply_symbol(m.symbol + column.batch * m.symbol_batch + index_t{sheet} * m.n, group.per,
                      group.thread, m.adjoint, v);
      transform.backward(v);
      if (!writes) continue;
      const auto scale = m.y.scale(column);
#pragma unroll
      for (int j = 0; j < points; ++j) {
        m.y.write(column, group.thread + j * group.per, untwisted<T>(v[j], j, sign), scale,
                  sheet > 0);
      }
    }
  });
}

/// Rows of spectra: z in place, natural order to the order of registers. Twisted rows belong to sheets in
/// turn.
template <class R>
struct RowsProblem {
  Complex<R>* z;
  Tables<R> tables;
  int n;
  index_t rows;
  int sheets;  ///< of the twist; 0: none
};

template <class R>
__global__ void __launch_bounds__(most_threads<R>)
    transform_rows(const __grid_constant__ RowsProblem<R> m) {
  const Group<R> group(m.n);
  auto transform = group.transform(m.n, m.tables);
  group.each(m.rows, [&](index_t row, bool writes) {
    Complex<R>* const z = m.z + row * m.n + group.thread;
    const int sheet = m.sheets == 0 ? 0 : static_cast<int>(row % m.sheets);
    transform.first = m.tables.first + sheet * m.tables.first_sheet;
    Complex<R> v[points];
#pragma unroll
    for (int j = 0; j < points; ++j) {
      v[j] = z[j * group.per];
      if (m.sheets > 0) v[j] = twisted(v[j], j, sign_of<R>(sheet));
    }
    __syncthreads();
    transform.forward(v);
    if (!writes) return;
#pragma unroll
    for (int j = 0; j < points; ++j) z[j * group.per] = v[j];
  });
}

/// How L is split, with the tables of the columns.
template <class R>
struct Split {
  Tables<R> tables;          ///< of transforms of length n1, twisted
  const Complex<R>* common;  ///< (sheets, n1 / 16, n2): factors that the numbers of a thread share
  const Complex<R>* power;   ///< (7, n2): those that differ
  int n1, width;             ///< width: columns that a block takes at once
  index_t n2;

  __device__ index_t length() const { return n1 * n2; }
  __device__ index_t tiles() const { return n2 / width; }
};

/// Where a thread of spread and gather is in its block of columns.
template <class R>
struct ColumnThread {
  int thread, lane;
  BlockTransform<R, ColumnPlace> transform;

  __device__ explicit ColumnThread(const Split<R>& s)
      : thread(static_cast<int>(threadIdx.x) / s.width),
        lane(static_cast<int>(threadIdx.x) % s.width),
        transform{
            s.n1,    thread,        gpu::dynamic_shared<Complex<R>>(), ColumnPlace{s.width, lane},
            nullptr, s.tables.later} {}

  __device__ void take_sheet(const Split<R>& s, int sheet) {
    transform.first = s.tables.first + sheet * s.tables.first_sheet;
  }
  __device__ Factors<R> factors(const Split<R>& s, int sheet, index_t j2) const {
    Factors<R> f(s.power, s.n2, j2);
    f.scale(s.common[(index_t{sheet} * (s.n1 / points) + thread) * s.n2 + j2]);
    return f;
  }
  /// Element j of the thread as the row j1 of the natural order.
  __device__ index_t natural(const Split<R>& s, int j) const {
    return thread + j * (s.n1 / points);
  }
};

template <class T>
struct SpreadProblem {
  using R = gpu::real_of_t<T>;
  Split<R> split;
  Input<T> x;
  index_t x_sheet;  ///< from the numbers of one sheet to those of the next
  Complex<R>* z;    ///< (columns, sheets, n1, n2)
  index_t begin, columns, k;
  int sheets;
};

template <class T>
__global__ void __launch_bounds__(256) spread(const __grid_constant__ SpreadProblem<T> m) {
  using R = gpu::real_of_t<T>;
  const Split<R>& s = m.split;
  ColumnThread<R> own(s);
  const index_t tiles = s.tiles();
  for (index_t unit = blockIdx.x; unit < m.columns * m.sheets * tiles; unit += gridDim.x) {
    const index_t row = unit / tiles, j2 = (unit - row * tiles) * s.width + own.lane;
    const int sheet = static_cast<int>(row % m.sheets);
    const Column column = column_of(m.begin + row / m.sheets, m.k);
    Input<T> x = m.x;
    x.data.data += sheet * m.x_sheet;
    own.take_sheet(s, sheet);
    Complex<R> v[points];
#pragma unroll
    for (int j = 0; j < points; ++j)
      v[j] = twisted(x(column, own.natural(s, j) * s.n2 + j2), j, sign_of<R>(sheet));
    __syncthreads();
    own.transform.forward(v);
    own.factors(s, sheet, j2).template multiply<false, false>(v);
    Complex<R>* const z = m.z + row * s.length() + j2;
#pragma unroll
    for (int j = 0; j < points; ++j) z[(own.thread * points + j) * s.n2] = v[j];
  }
}

template <class R>
struct MultiplyProblem {
  Complex<R>* z;  ///< (columns, sheets, n1, n2)
  Tables<R> tables;
  const Complex<R>* symbol;  ///< (batch, sheets, n1, n2)
  index_t symbol_batch;
  int n2;
  index_t n1, begin, columns, k;
  int sheets;
  bool adjoint;
};

template <class R>
__global__ void __launch_bounds__(most_threads<R>)
    multiply_rows(const __grid_constant__ MultiplyProblem<R> m) {
  const Group<R> group(m.n2);
  const auto transform = group.transform(m.n2, m.tables);
  const index_t per_column = m.sheets * m.n1;
  group.each(m.columns * per_column, [&](index_t row, bool writes) {
    Complex<R>* const z = m.z + row * m.n2 + group.thread;
    const index_t unit = row / per_column;
    const Column column = column_of(m.begin + unit, m.k);
    Complex<R> v[points];
#pragma unroll
    for (int j = 0; j < points; ++j) v[j] = z[j * group.per];
    transform.forward(v);
    multiply_symbol(m.symbol + column.batch * m.symbol_batch + (row - unit * per_column) * m.n2,
                    group.per, group.thread, m.adjoint, v);
    transform.backward(v);
    if (!writes) return;
#pragma unroll
    for (int j = 0; j < points; ++j) z[j * group.per] = v[j];
  });
}

template <class T>
struct GatherProblem {
  using R = gpu::real_of_t<T>;
  Split<R> split;
  Output<T> y;
  const Complex<R>* z;  ///< (columns, sheets, n1, n2)
  index_t begin, columns, k;
};

/// v := what backward transforms over q make of one sheet of z.
template <class R>
__device__ void gather_sheet(ColumnThread<R>& own, const Split<R>& s, const Complex<R>* z,
                             int sheet, index_t j2, Complex<R> (&v)[points]) {
#pragma unroll
  for (int j = 0; j < points; ++j) v[j] = z[(own.thread * points + j) * s.n2 + j2];
  own.take_sheet(s, sheet);
  own.factors(s, sheet, j2).template multiply<true, false>(v);
  __syncthreads();
  own.transform.backward(v);
}

template <class T>
__global__ void __launch_bounds__(256) gather(const __grid_constant__ GatherProblem<T> m) {
  using R = gpu::real_of_t<T>;
  const Split<R>& s = m.split;
  ColumnThread<R> own(s);
  const index_t tiles = s.tiles();
  for (index_t unit = blockIdx.x; unit < m.columns * tiles; unit += gridDim.x) {
    const index_t local = unit / tiles, j2 = (unit - local * tiles) * s.width + own.lane;
    const Column column = column_of(m.begin + local, m.k);
    const auto scale = m.y.scale(column);
    for (int sheet = 0; sheet < sheet_count<T>; ++sheet) {
      Complex<R> v[points];
      gather_sheet(own, s, m.z + (local * sheet_count<T> + sheet) * s.length(), sheet, j2, v);
#pragma unroll
      for (int j = 0; j < points; ++j) {
        m.y.write(column, own.natural(s, j) * s.n2 + j2, untwisted<T>(v[j], j, sign_of<R>(sheet)),
                  scale, sheet > 0);
      }
    }
  }
}

}  // namespace structmat::toeplitz::device
