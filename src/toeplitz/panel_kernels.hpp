/// \file
/// Loops over panels: rows of `panel_width` interleaved complex numbers, one below the other.
#pragma once

#include "toeplitz/fourier_kernels.hpp"

namespace structmat::toeplitz {

/// Columns that are transformed together: whole cache lines of every type, and little enough for a
/// panel to stay in a second-level cache.
inline constexpr index_t panel_width = 16;

namespace kernels {

/// panel_rb := scale x_rb w_r for finite x_rb, otherwise 0; for complex x also second_rb := scale x_rb
/// conj(w_r). conjugated: with conj(x_rb). Rows of x lie `step` apart. Returns the bits of the largest
/// modulus of a part of x.
template <Scalar T>
STRUCTMAT_CLONES Integer<real_t<T>> weight_rows(const T* x, index_t step, index_t rows,
                                                bool conjugated, real_t<T> scale,
                                                const std::complex<real_t<T>>* w,
                                                std::complex<real_t<T>>* panel,
                                                std::complex<real_t<T>>* second) {
  using R = real_t<T>;
  using V = Reals<R>;
  constexpr int W = width<R>;
  constexpr index_t parts = 2 * panel_width;
  R *const to = reinterpret_cast<R*>(panel), *const other = reinterpret_cast<R*>(second);
  Integers<R> largest{};
  for (index_t r = 0; r < rows; ++r) {
    const V weight = alternating<R>(w[r].real(), w[r].imag());
    if constexpr (is_complex_v<T>) {
      const R* const xs = reinterpret_cast<const R*>(x + r * step);
      const V factor = alternating<R>(scale, conjugated ? -scale : scale);
      for (index_t j = 0; j < parts; j += W) {
        const V v = finite_part<R>(simd::load<V>(xs + j), largest) * factor;
        simd::store(to + r * parts + j, complex_product<R>(weight, v));
        simd::store(other + r * parts + j, complex_product<R, true>(weight, v));
      }
    } else {
      for (index_t j = 0; j < panel_width; j += W) {
        const V v = finite_part<R>(simd::load<V>(x + r * step + j), largest) * scale;
        simd::store(to + r * parts + 2 * j, V(each_twice<0>(v, Sequence<R>{}) * weight));
        simd::store(to + r * parts + 2 * j + W, V(each_twice<W / 2>(v, Sequence<R>{}) * weight));
      }
    }
  }
  Integer<R> most = 0;
  for (int i = 0; i < W; ++i) most = std::max<Integer<R>>(most, largest[i]);
  return most;
}

/// panel_rb := panel_rb w_r, conjugated: panel_rb conj(w_r).
template <RealScalar R>
STRUCTMAT_CLONES void scale_rows(const std::complex<R>* w, bool conjugated, index_t rows,
                                 std::complex<R>* panel) {
  using V = Reals<R>;
  constexpr index_t parts = 2 * panel_width;
  R* const p = reinterpret_cast<R*>(panel);
  for (index_t r = 0; r < rows; ++r) {
    const V weight = alternating<R>(w[r].real(), conjugated ? -w[r].imag() : w[r].imag());
    for (index_t j = r * parts; j < (r + 1) * parts; j += width<R>)
      simd::store(p + j, complex_product<R>(weight, simd::load<V>(p + j)));
  }
}

/// Complex lanes `step` apart of two rows exchanged.
template <int Step, bool Second, class V, int... I>
STRUCTMAT_INLINE V exchanged(const V& a, const V& b, std::integer_sequence<int, I...>) {
  constexpr int own = Second ? 2 * Step : 0, other = int(sizeof...(I)) - (Second ? 0 : 2 * Step);
  return __builtin_shufflevector(a, b, ((I / 2 & Step) == 0 ? I + own : I + other)...);
}

template <RealScalar R, int Step>
STRUCTMAT_INLINE void exchange(Reals<R>* rows) {
  constexpr Sequence<R> lanes{};
  for (int i = 0; i < width<R> / 2; ++i) {
    if ((i & Step) != 0) continue;
    const Reals<R> a = rows[i], b = rows[i + Step];
    rows[i] = exchanged<Step, false>(a, b, lanes);
    rows[i + Step] = exchanged<Step, true>(a, b, lanes);
  }
}

/// A square of complex numbers in registers.
template <RealScalar R>
STRUCTMAT_INLINE void transpose(Reals<R>* rows) {
  exchange<R, 1>(rows);
  exchange<R, 2>(rows);
  if constexpr (width<R> == 16) exchange<R, 4>(rows);
}

/// v := rows b, ..., of `columns` from r on, transposed.
template <RealScalar R>
STRUCTMAT_INLINE void load_square(const std::complex<R>* columns, index_t rows, index_t r,
                                  index_t b, Reals<R>* v) {
  for (int i = 0; i < width<R> / 2; ++i)
    v[i] = simd::load<Reals<R>>(reinterpret_cast<const R*>(columns + (b + i) * rows + r));
  transpose<R>(v);
}

/// z_rb := columns_br start_r fine_rb; rows of z lie `stride` apart, columns `rows` apart. rows is a
/// multiple of 8.
template <RealScalar R>
STRUCTMAT_CLONES void store_twiddled(const std::complex<R>* columns, const std::complex<R>* start,
                                     const std::complex<R>* fine, index_t rows, std::complex<R>* z,
                                     index_t stride) {
  using V = Reals<R>;
  constexpr int square = width<R> / 2;
  for (index_t r = 0; r < rows; r += square) {
    V first[square];
    for (int i = 0; i < square; ++i)
      first[i] = alternating<R>(start[r + i].real(), start[r + i].imag());
    for (index_t b = 0; b < panel_width; b += square) {
      V v[square];
      load_square(columns, rows, r, b, v);
      for (int i = 0; i < square; ++i) {
        const V f = simd::load<V>(reinterpret_cast<const R*>(fine + (r + i) * panel_width + b));
        const V twiddle = complex_product<R>(first[i], f);
        simd::store(reinterpret_cast<R*>(z + (r + i) * stride + b),
                    complex_product<R>(twiddle, v[i]));
      }
    }
  }
}

/// panel_rb := conj(z_rb) start_r fine_rb
template <RealScalar R>
STRUCTMAT_CLONES void load_untwiddled(const std::complex<R>* z, index_t stride,
                                      const std::complex<R>* start, const std::complex<R>* fine,
                                      index_t rows, std::complex<R>* panel) {
  using V = Reals<R>;
  constexpr index_t parts = 2 * panel_width;
  R* const to = reinterpret_cast<R*>(panel);
  const R* const f = reinterpret_cast<const R*>(fine);
  for (index_t r = 0; r < rows; ++r) {
    const R* const from = reinterpret_cast<const R*>(z + r * stride);
    const V first = alternating<R>(start[r].real(), start[r].imag());
    for (index_t j = 0; j < parts; j += width<R>) {
      const V twiddle = complex_product<R>(first, simd::load<V>(f + r * parts + j));
      simd::store(to + r * parts + j, complex_product<R, true>(simd::load<V>(from + j), twiddle));
    }
  }
}

/// y_rb := the real part of u_br w_r, or conj(u_br w_r + second_br conj(w_r)), times two scales;
/// conjugated: its conjugate. Rows of y lie `step` apart; of u, which has `total`, those from `begin` to
/// `end`, multiples of 8.
template <Scalar T>
STRUCTMAT_CLONES void unweight_columns(const std::complex<real_t<T>>* u,
                                       const std::complex<real_t<T>>* second,
                                       const std::complex<real_t<T>>* w, index_t total,
                                       index_t begin, index_t end, bool conjugated,
                                       const std::array<real_t<T>, 2>& scale, T* y, index_t step) {
  using R = real_t<T>;
  using V = Reals<R>;
  constexpr int square = width<R> / 2;
  const V factor = is_complex_v<T> ? alternating<R>(scale[0], conjugated ? scale[0] : -scale[0])
                                   : alternating<R>(scale[0], -scale[0]);
  for (index_t r = begin; r < end; r += square) {
    V weights[square];
    for (int i = 0; i < square; ++i) weights[i] = alternating<R>(w[r + i].real(), w[r + i].imag());
    R* const to = reinterpret_cast<R*>(y + (r - begin) * step);
    if constexpr (is_complex_v<T>) {
      for (index_t b = 0; b < panel_width; b += square) {
        V v[square], other[square];
        load_square(u, total, r, b, v);
        load_square(second, total, r, b, other);
        for (int i = 0; i < square; ++i) {
          // The conjugate of the result.
          const V sum =
              complex_product<R>(weights[i], v[i]) + complex_product<R, true>(weights[i], other[i]);
          simd::store(to + 2 * (i * step + b), V(sum * factor * scale[1]));
        }
      }
    } else {
      for (index_t b = 0; b < panel_width; b += 2 * square) {
        V low[square], high[square];
        load_square(u, total, r, b, low);
        load_square(u, total, r, b + square, high);
        for (int i = 0; i < square; ++i) {
          const V weight = weights[i] * factor;
          simd::store(
              to + i * step + b,
              V(sums_of_pairs(V(low[i] * weight), V(high[i] * weight), Sequence<R>{}) * scale[1]));
        }
      }
    }
  }
}

}  // namespace kernels
}  // namespace structmat::toeplitz
