/// \file
/// Kernels for cotangents of lags, c_bar_{i-j} += u_i conj(v_j), by the transforms of products: with
/// y = Re D^-1 F^-1 diag(F D a) F D x the cotangent of a is
///   a_bar = D^-1 F^-1 (conj(F D v) F D u),  a_l = c_l - i c_{l-L},
/// so that c_bar_l = Re a_bar_l and c_bar_{l-L} = -Im a_bar_l; for complex lags half of a_bar and half of
/// i a_bar, from the second sheet of -i a_bar.
#pragma once

#include "toeplitz/library_kernel.cuh"

namespace structmat::toeplitz::device {

/// Cotangents of lags, to which kernels add.
template <class T>
struct LagOutput {
  using R = gpu::real_of_t<T>;
  gpu::Strided<T, 2> data;  ///< (entries, rows + cols - 1)
  index_t rows, cols, length;
  bool conjugated;
  R scale;

  /// What the sheet says of the lags l and l - L.
  __device__ void add(index_t entry, index_t l, Complex<R> a, int sheet) const {
    a *= Complex<R>(scale);
    const R sign = sign_of<R>(sheet);
    T low, high;
    if constexpr (gpu::is_complex<T>) {
      low = a;
      high = {-sign * a.im, sign * a.re};
    } else {
      low = a.re;
      high = -a.im;
    }
    if (l < rows) data(entry, l + cols - 1) += gpu::conjugate_if(conjugated, low);
    if (length - l < cols)
      data(entry, l - length + cols - 1) += gpu::conjugate_if(conjugated, high);
  }
};

/// Sums of conj(F D v) F D u over a part of the columns of an entry, in the order of registers.
template <class T>
struct CorrelateBlockProblem {
  using R = gpu::real_of_t<T>;
  Input<T> u, v;
  Tables<R> tables;
  Complex<R>* sums;  ///< (entries, parts, sheets, n)
  int n;
  index_t entries, parts, count, k;  ///< count: columns of an entry
};

template <class T>
__global__ void __launch_bounds__(most_threads<gpu::real_of_t<T>>)
    correlate_block(const __grid_constant__ CorrelateBlockProblem<T> m) {
  using R = gpu::real_of_t<T>;
  const Group<R> group(m.n);
  auto transform = group.transform(m.n, m.tables);
  const index_t per_part = (m.count + m.parts - 1) / m.parts;
  group.each(m.entries * m.parts * sheet_count<T>, [&](index_t unit, bool writes) {
    const int sheet = static_cast<int>(unit % sheet_count<T>);
    const index_t whole = unit / sheet_count<T>, entry = whole / m.parts;
    const index_t first = (whole - entry * m.parts) * per_part;
    const R sign = sign_of<R>(sheet);
    transform.first = m.tables.first + sheet * m.tables.first_sheet;
    Complex<R>* const sums = m.sums + unit * m.n + group.thread;
    // The same number of rounds for all threads of the block.
    for (index_t i = 0; i < per_part; ++i) {
      const bool real = first + i < m.count;
      const Column column = column_of(entry * m.count + (real ? first + i : 0), m.k);
      Complex<R> u[points], v[points];
#pragma unroll
      for (int j = 0; j < points; ++j)
        u[j] = twisted(m.u(column, group.thread + j * group.per), j, sign);
      __syncthreads();
      transform.forward(u);
#pragma unroll
      for (int j = 0; j < points; ++j)
        v[j] = twisted(m.v(column, group.thread + j * group.per), j, sign);
      __syncthreads();
      transform.forward(v);
      if (!writes || !real) continue;
#pragma unroll
      for (int j = 0; j < points; ++j) {
        const Complex<R> product = gpu::conjugate(v[j]) * u[j];
        Complex<R>& sum = sums[j * group.per];
        sum = i == 0 ? product : sum + product;
      }
    }
    // A part behind the last column.
    if (first < m.count || !writes) return;
#pragma unroll
    for (int j = 0; j < points; ++j) sums[j * group.per] = Complex<R>(0);
  });
}

template <class T>
struct FinishBlockProblem {
  using R = gpu::real_of_t<T>;
  const Complex<R>* sums;
  Tables<R> tables;
  LagOutput<T> lags;
  int n;
  index_t entries, parts;
};

template <class T>
__global__ void __launch_bounds__(most_threads<gpu::real_of_t<T>>)
    finish_block(const __grid_constant__ FinishBlockProblem<T> m) {
  using R = gpu::real_of_t<T>;
  const Group<R> group(m.n);
  auto transform = group.transform(m.n, m.tables);
  group.each(m.entries, [&](index_t entry, bool writes) {
    for (int sheet = 0; sheet < sheet_count<T>; ++sheet) {
      transform.first = m.tables.first + sheet * m.tables.first_sheet;
      Complex<R> v[points];
#pragma unroll
      for (int j = 0; j < points; ++j) v[j] = Complex<R>(0);
      for (index_t part = 0; part < m.parts; ++part) {
        const Complex<R>* const sums =
            m.sums + ((entry * m.parts + part) * sheet_count<T> + sheet) * m.n + group.thread;
#pragma unroll
        for (int j = 0; j < points; ++j) v[j] += sums[j * group.per];
      }
      __syncthreads();
      transform.backward(v);
      if (!writes) continue;
#pragma unroll
      for (int j = 0; j < points; ++j) {
        m.lags.add(entry, group.thread + j * group.per,
                   v[j] * gpu::conjugate(Twist16::power<R>(j, sign_of<R>(sheet))), sheet);
      }
    }
  });
}

/// Sums over columns of conj(F v) F u by rows, for what spread has made of u and v.
template <class R>
struct CorrelateRowsProblem {
  const Complex<R>*u, *v;  ///< (entries, columns, per_column, n2); per_column: sheets n1
  Complex<R>* sums;        ///< (entries, per_column, n2)
  Tables<R> tables;
  int n2;
  index_t per_column, entries, columns;
  bool first, last;  ///< the first and the last columns of the entries: start anew; transform back
};

template <class R>
__global__ void __launch_bounds__(most_threads<R>)
    correlate_rows(const __grid_constant__ CorrelateRowsProblem<R> m) {
  const Group<R> group(m.n2);
  const auto transform = group.transform(m.n2, m.tables);
  group.each(m.entries * m.per_column, [&](index_t row, bool writes) {
    const index_t entry = row / m.per_column, own = row - entry * m.per_column;
    Complex<R>* const sums = m.sums + row * m.n2 + group.thread;
    for (index_t c = 0; c < m.columns; ++c) {
      const index_t at = ((entry * m.columns + c) * m.per_column + own) * m.n2 + group.thread;
      Complex<R> u[points], v[points];
#pragma unroll
      for (int j = 0; j < points; ++j) u[j] = m.u[at + j * group.per];
      __syncthreads();
      transform.forward(u);
#pragma unroll
      for (int j = 0; j < points; ++j) v[j] = m.v[at + j * group.per];
      __syncthreads();
      transform.forward(v);
      if (!writes) continue;
#pragma unroll
      for (int j = 0; j < points; ++j) {
        const Complex<R> product = gpu::conjugate(v[j]) * u[j];
        Complex<R>& sum = sums[j * group.per];
        sum = m.first && c == 0 ? product : sum + product;
      }
    }
    if (!m.last) return;
    Complex<R> v[points];
#pragma unroll
    for (int j = 0; j < points; ++j) v[j] = writes ? sums[j * group.per] : Complex<R>(0);
    transform.backward(v);
    if (!writes) return;
#pragma unroll
    for (int j = 0; j < points; ++j) sums[j * group.per] = v[j];
  });
}

template <class T>
struct GatherLagsProblem {
  using R = gpu::real_of_t<T>;
  Split<R> split;
  LagOutput<T> lags;
  const Complex<R>* z;  ///< (entries, sheets, n1, n2)
  index_t begin, entries;
};

template <class T>
__global__ void __launch_bounds__(256) gather_lags(const __grid_constant__ GatherLagsProblem<T> m) {
  using R = gpu::real_of_t<T>;
  const Split<R>& s = m.split;
  ColumnThread<R> own(s);
  const index_t tiles = s.tiles();
  for (index_t unit = blockIdx.x; unit < m.entries * tiles; unit += gridDim.x) {
    const index_t entry = unit / tiles, j2 = (unit - entry * tiles) * s.width + own.lane;
    for (int sheet = 0; sheet < sheet_count<T>; ++sheet) {
      Complex<R> v[points];
      gather_sheet(own, s, m.z + (entry * sheet_count<T> + sheet) * s.length(), sheet, j2, v);
#pragma unroll
      for (int j = 0; j < points; ++j) {
        m.lags.add(m.begin + entry, own.natural(s, j) * s.n2 + j2,
                   v[j] * gpu::conjugate(Twist16::power<R>(j, sign_of<R>(sheet))), sheet);
      }
    }
  }
}

template <class T>
struct UntwistLagsProblem {
  using R = gpu::real_of_t<T>;
  LagOutput<T> lags;
  const Complex<R>* z;
  TwistTable<R> twist;
  index_t entry;
  int sheet;
};

template <class T>
__global__ void __launch_bounds__(256)
    untwist_lags(const __grid_constant__ UntwistLagsProblem<T> m) {
  for (index_t j = index_t{blockIdx.x} * blockDim.x + threadIdx.x; j < m.lags.length;
       j += index_t{gridDim.x} * blockDim.x) {
    m.lags.add(m.entry, j, gpu::conjugate(m.twist(j, m.sheet)) * m.z[j], m.sheet);
  }
}

}  // namespace structmat::toeplitz::device
