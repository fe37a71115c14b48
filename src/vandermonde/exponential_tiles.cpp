#include "vandermonde/exponential_tiles.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "vandermonde/exponential_table.hpp"

namespace structmat::vandermonde {

namespace {

template <Scalar T>
using LanesOf = simd::Lanes<T, exponential_width<T>>;

template <Scalar T>
void set_lane(real_t<T>* lanes, index_t lane, const Wide<T>& v) {
  if constexpr (is_complex_v<T>) {
    lanes[lane] = static_cast<real_t<T>>(v.real());
    lanes[exponential_width<T> + lane] = static_cast<real_t<T>>(v.imag());
  } else {
    lanes[lane] = static_cast<T>(v);
  }
}

template <Scalar T>
Array<real_t<T>, 1> along_poles(const View<const T, 1>& a, index_t step, index_t count) {
  constexpr index_t w = exponential_width<T>, size = LanesOf<T>::reals;
  const index_t poles = a.extent(0);
  Array<real_t<T>, 1> lanes({(poles + w - 1) / w * count * size});
  std::vector<Wide<T>> table;
  for (index_t k = 0; k < poles; ++k) {
    exponential_table(Wide<T>(a(k)), step, count, table);
    for (index_t l = 0; l < count; ++l) {
      set_lane<T>(lanes.data() + (k / w * count + l) * size, k % w, table[l]);
    }
  }
  return lanes;
}

/// Sums whose real part alone is wanted.
template <RealScalar R, int W>
STRUCTMAT_INLINE simd::Lanes<R, W> plus_real(const simd::Lanes<R, W>& sum, const std::complex<R>& c,
                                             const simd::Lanes<std::complex<R>, W>& x) {
  return {sum.v + c.real() * x.re - c.imag() * x.im};
}

/// One vector of lags in `Rows` rows.
template <Scalar T, class Out, int Rows>
STRUCTMAT_INLINE void pole_tile(const real_t<T>* fine, index_t poles, const T* g,
                                simd::Lanes<Out, exponential_width<T>>* result) {
  using Result = simd::Lanes<Out, exponential_width<T>>;
  Result sum[Rows];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) sum[i] = Result::zero();
  for (index_t k = 0; k < poles; ++k) {
    const auto x = LanesOf<T>::load(fine + k * LanesOf<T>::reals);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      if constexpr (std::same_as<T, Out>) {
        sum[i] = sum[i].plus(g[i * poles + k], x);
      } else {
        sum[i] = plus_real(sum[i], g[i * poles + k], x);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) result[i] = sum[i];
}

template <class Out, int W>
STRUCTMAT_INLINE void write_lanes(const simd::Lanes<Out, W>& from, index_t count, Out* to) {
  real_t<Out> lanes[simd::Lanes<Out, W>::reals];
  from.store(lanes);
  for (index_t j = 0; j < count; ++j) {
    if constexpr (is_complex_v<Out>) {
      to[j] = {lanes[j], lanes[W + j]};
    } else {
      to[j] = lanes[j];
    }
  }
}

template <Scalar T, class Out, int Rows>
STRUCTMAT_INLINE void pole_rows(const LagGrid& grid, const real_t<T>* fine, index_t poles,
                                const T* g, index_t l1, Out* y) {
  constexpr int w = exponential_width<T>;
  const index_t vectors = (grid.length(l1) + w - 1) / w;
  for (index_t v = 0; v < vectors; ++v) {
    simd::Lanes<Out, w> result[Rows];
    pole_tile<T, Out, Rows>(fine + v * poles * LanesOf<T>::reals, poles, g, result);
    for (int i = 0; i < Rows; ++i) {
      const index_t count = std::min<index_t>(w, grid.length(l1 + i) - v * w);
      if (count > 0) write_lanes(result[i], count, y + i * grid.block + v * w);
    }
  }
}

/// Rows that share each vector of the table while it is in a register.
constexpr int tile = 4;

template <Scalar T, class Out>
STRUCTMAT_CLONES void all_pole_rows(const LagGrid& grid, const real_t<T>* fine, index_t poles,
                                    const T* g, index_t first, index_t last, Out* y) {
  index_t l1 = first;
  for (; l1 + tile <= last; l1 += tile) {
    pole_rows<T, Out, tile>(grid, fine, poles, g + (l1 - first) * poles, l1,
                            y + (l1 - first) * grid.block);
  }
  for (; l1 < last; ++l1) {
    pole_rows<T, Out, 1>(grid, fine, poles, g + (l1 - first) * poles, l1,
                         y + (l1 - first) * grid.block);
  }
}

/// total + sum over rows l1.. of exp(l1 B a) times the sum over `count` lags of each row.
template <Scalar T, int Rows>
STRUCTMAT_INLINE LanesOf<T> lag_tile(const LanesOf<T>& total, const real_t<T>* fine,
                                     const real_t<T>* coarse, const T* x, index_t block,
                                     index_t count) {
  using L = LanesOf<T>;
  L sum[Rows];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) sum[i] = L::zero();
  for (index_t l2 = 0; l2 < count; ++l2) {
    const L e = L::load(fine + l2 * L::reals);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) sum[i] = sum[i].plus(x[i * block + l2], e);
  }
  L result = total;
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
    result = plus_product(result, L::load(coarse + i * L::reals), sum[i]);
  }
  return result;
}

template <Scalar T>
STRUCTMAT_CLONES void all_lag_rows(const LagGrid& grid, const real_t<T>* fine,
                                   const real_t<T>* coarse, const T* x, T* c) {
  using L = LanesOf<T>;
  L total = L::zero();
  const index_t full = grid.lags / grid.block;
  index_t l1 = 0;
  for (; l1 + tile <= full; l1 += tile) {
    total = lag_tile<T, tile>(total, fine, coarse + l1 * L::reals, x + l1 * grid.block, grid.block,
                              grid.block);
  }
  for (; l1 < grid.rows(); ++l1) {
    total = lag_tile<T, 1>(total, fine, coarse + l1 * L::reals, x + l1 * grid.block, grid.block,
                           grid.length(l1));
  }
  write_lanes<T, exponential_width<T>>(total, exponential_width<T>, c);
}

}  // namespace

LagGrid lag_grid(index_t lags, index_t width) {
  const auto root = static_cast<index_t>(std::ceil(std::sqrt(static_cast<double>(lags))));
  return {lags, std::max<index_t>(1, (root + width - 1) / width) * width};
}

template <Scalar T>
Array<real_t<T>, 1> fine_along_lags(const View<const T, 1>& a, const LagGrid& grid) {
  constexpr index_t w = exponential_width<T>, size = LanesOf<T>::reals;
  const index_t poles = a.extent(0);
  // Lags that do not exist stay zero.
  const index_t count = std::min(grid.block, grid.lags);
  Array<real_t<T>, 1> lanes({grid.block / w * poles * size});
  std::vector<Wide<T>> table;
  for (index_t k = 0; k < poles; ++k) {
    exponential_table(Wide<T>(a(k)), 1, count, table);
    for (index_t l = 0; l < count; ++l) {
      set_lane<T>(lanes.data() + (l / w * poles + k) * size, l % w, table[l]);
    }
  }
  return lanes;
}

template <Scalar T>
Array<real_t<T>, 1> fine_along_poles(const View<const T, 1>& a, const LagGrid& grid) {
  return along_poles(a, 1, std::min(grid.block, grid.lags));
}

template <Scalar T>
Array<real_t<T>, 1> coarse_along_poles(const View<const T, 1>& a, const LagGrid& grid) {
  return along_poles(a, grid.block, grid.rows());
}

template <Scalar T>
Array<T, 2> coarse(const View<const T, 1>& a, const LagGrid& grid) {
  Array<T, 2> result({grid.rows(), a.extent(0)}, uninitialized);
  std::vector<Wide<T>> table;
  for (index_t k = 0; k < a.extent(0); ++k) {
    exponential_table(Wide<T>(a(k)), grid.block, grid.rows(), table);
    for (index_t l1 = 0; l1 < grid.rows(); ++l1) result(l1, k) = T(table[l1]);
  }
  return result;
}

template <Scalar T, class Out>
void sum_over_poles(const LagGrid& grid, const Array<real_t<T>, 1>& fine, index_t poles, const T* g,
                    index_t first, index_t last, Out* y) {
  all_pole_rows<T, Out>(grid, fine.data(), poles, g, first, last, y);
}

template <Scalar T>
void sum_over_lags(const LagGrid& grid, const Array<real_t<T>, 1>& fine,
                   const Array<real_t<T>, 1>& coarse, index_t vector, const T* x, T* c) {
  constexpr index_t size = LanesOf<T>::reals;
  all_lag_rows<T>(grid, fine.data() + vector * std::min(grid.block, grid.lags) * size,
                  coarse.data() + vector * grid.rows() * size, x, c);
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define STRUCTMAT_INSTANTIATE(T)                                                              \
  template Array<real_t<T>, 1> fine_along_lags(const View<const T, 1>&, const LagGrid&);      \
  template Array<real_t<T>, 1> fine_along_poles(const View<const T, 1>&, const LagGrid&);     \
  template Array<real_t<T>, 1> coarse_along_poles(const View<const T, 1>&, const LagGrid&);   \
  template Array<T, 2> coarse(const View<const T, 1>&, const LagGrid&);                       \
  template void sum_over_poles(const LagGrid&, const Array<real_t<T>, 1>&, index_t, const T*, \
                               index_t, index_t, T*);                                         \
  template void sum_over_lags(const LagGrid&, const Array<real_t<T>, 1>&,                     \
                              const Array<real_t<T>, 1>&, index_t, const T*, T*);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#define STRUCTMAT_INSTANTIATE_REAL(R)                                       \
  template void sum_over_poles(const LagGrid&, const Array<R, 1>&, index_t, \
                               const std::complex<R>*, index_t, index_t, R*);
STRUCTMAT_INSTANTIATE_REAL(float)
STRUCTMAT_INSTANTIATE_REAL(double)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace structmat::vandermonde
