/// \file
/// A product of butterfly factors on a tile of right-hand sides: N rows of W lanes.
#pragma once

#include "core/simd.hpp"
#include "structmat/butterfly/butterfly.hpp"

namespace structmat::butterfly {

/// Right-hand sides that go through the factors together; fewer go one by one.
inline constexpr index_t tile = 8;

/// The width of the tile that begins at column c of k.
constexpr index_t tile_width(index_t c, index_t k) {
  return k - c >= tile / 2 ? tile : 1;
}

/// The number of tiles of k columns.
constexpr index_t tile_count(index_t k) {
  const index_t rest = k % tile;
  return k / tile + (rest >= tile / 2 ? 1 : rest);
}

/// The first column of a tile.
constexpr index_t tile_begin(index_t t, index_t k) {
  return t <= k / tile ? t * tile : k / tile * tile + (t - k / tile);
}

/// Real numbers of N rows of W lanes of T.
template <Scalar T>
constexpr index_t tile_reals(index_t size, index_t width) {
  return size * width * (is_complex_v<T> ? 2 : 1);
}

/// Rows of x, padded with zeros to N rows and W columns, as lanes; conj(x) where asked.
template <Scalar T>
void load_tile(const View<const T, 2>& x, index_t size, index_t width, bool conjugated,
               real_t<T>* z) {
  const index_t columns = x.extent(1), reals = tile_reals<T>(1, width);
  std::fill_n(z, size * reals, real_t<T>{0});
  for (index_t i = 0; i < x.extent(0); ++i, z += reals) {
    for (index_t c = 0; c < columns; ++c) {
      const T v = x(i, c);
      z[c] = std::real(v);
      if constexpr (is_complex_v<T>) z[width + c] = conjugated ? -v.imag() : v.imag();
    }
  }
}

/// The leading rows and columns of a tile: f(y(i, c), value).
template <Scalar T, class F>
void store_tile(const real_t<T>* z, index_t width, bool conjugated, const View<T, 2>& y,
                const F& f) {
  const index_t columns = y.extent(1), reals = tile_reals<T>(1, width);
  for (index_t i = 0; i < y.extent(0); ++i, z += reals) {
    for (index_t c = 0; c < columns; ++c) {
      if constexpr (is_complex_v<T>) {
        f(y(i, c), T(z[c], conjugated ? -z[width + c] : z[width + c]));
      } else {
        f(y(i, c), z[c]);
      }
    }
  }
}

/// to := F from for one factor of stride s. f: (N / 2, 2, 2); from may be to.
template <Scalar T, int W>
STRUCTMAT_INLINE void apply_factor(const View<const T, 3>& f, index_t s, const real_t<T>* from,
                                   real_t<T>* to) {
  using L = simd::Lanes<T, W>;
  const index_t pairs = f.extent(0), step = f.stride(0), row = f.stride(1), column = f.stride(2);
  const index_t far = s * L::reals;
  const T* w = f.data();
  for (index_t block = 0; block < pairs; block += s) {
    for (index_t i = 0; i < s; ++i, w += step, from += L::reals, to += L::reals) {
      const L u = L::load(from), v = L::load(from + far);
      L::zero().plus(w[0], u).plus(w[column], v).store(to);
      L::zero().plus(w[row], u).plus(w[row + column], v).store(to + far);
    }
    from += far;
    to += far;
  }
}

}  // namespace structmat::butterfly
