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

/// y_rb := the real part of panel_rb conj(w_r), or panel_rb conj(w_r) + second_rb w_r, times two
/// scales; conjugated: its conjugate. Rows of y lie `step` apart.
template <Scalar T>
STRUCTMAT_CLONES void unweight_rows(const std::complex<real_t<T>>* panel,
                                    const std::complex<real_t<T>>* second,
                                    const std::complex<real_t<T>>* w, index_t rows, bool conjugated,
                                    const std::array<real_t<T>, 2>& scale, T* y, index_t step) {
  using R = real_t<T>;
  using V = Reals<R>;
  constexpr int W = width<R>;
  constexpr index_t parts = 2 * panel_width;
  const R *const from = reinterpret_cast<const R*>(panel), *const other =
                                                               reinterpret_cast<const R*>(second);
  for (index_t r = 0; r < rows; ++r) {
    const V weight = alternating<R>(w[r].real(), w[r].imag());
    if constexpr (is_complex_v<T>) {
      R* const ys = reinterpret_cast<R*>(y + r * step);
      const V factor = alternating<R>(scale[0], conjugated ? -scale[0] : scale[0]);
      for (index_t j = 0; j < parts; j += W) {
        const V v = complex_product<R, true>(weight, simd::load<V>(from + r * parts + j)) +
                    complex_product<R>(weight, simd::load<V>(other + r * parts + j));
        simd::store(ys + j, V(v * factor * scale[1]));
      }
    } else {
      for (index_t j = 0; j < panel_width; j += W) {
        const V low = simd::load<V>(from + r * parts + 2 * j) * weight;
        const V high = simd::load<V>(from + r * parts + 2 * j + W) * weight;
        simd::store(y + r * step + j,
                    V(sums_of_pairs(low, high, Sequence<R>{}) * scale[0] * scale[1]));
      }
    }
  }
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

/// z_rb := panel_rb start_r fine_rb; rows of z lie `stride` apart.
template <RealScalar R>
STRUCTMAT_CLONES void store_twiddled(const std::complex<R>* panel, const std::complex<R>* start,
                                     const std::complex<R>* fine, index_t rows, std::complex<R>* z,
                                     index_t stride) {
  using V = Reals<R>;
  constexpr index_t parts = 2 * panel_width;
  const R *const from = reinterpret_cast<const R*>(panel), *const f =
                                                               reinterpret_cast<const R*>(fine);
  for (index_t r = 0; r < rows; ++r) {
    R* const to = reinterpret_cast<R*>(z + r * stride);
    const V first = alternating<R>(start[r].real(), start[r].imag());
    for (index_t j = 0; j < parts; j += width<R>) {
      const V twiddle = complex_product<R>(first, simd::load<V>(f + r * parts + j));
      simd::store(to + j, complex_product<R>(twiddle, simd::load<V>(from + r * parts + j)));
    }
  }
}

/// panel_rb := z_rb conj(start_r fine_rb)
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
      simd::store(to + r * parts + j, complex_product<R, true>(twiddle, simd::load<V>(from + j)));
    }
  }
}

}  // namespace kernels
}  // namespace structmat::toeplitz
