/// \file
/// The two-level form of exponential sums: exp((l1 B + l2) a) = exp(l1 B a) exp(l2 a), and the
/// products of small matrices that it makes of a sum over poles, or over lags.
#pragma once

#include "structmat/core/array.hpp"

namespace structmat::vandermonde {

/// Lanes of a vector of 64 bytes; complex numbers take two.
template <Scalar T>
inline constexpr int exponential_width = 64 / sizeof(real_t<T>);

/// L lags are rows of B: the last one may be shorter.
struct LagGrid {
  index_t lags = 0, block = 1;

  index_t rows() const { return (lags + block - 1) / block; }
  /// Lags of row l1.
  index_t length(index_t l1) const { return std::min(block, lags - l1 * block); }
};

/// B about sqrt(L), a multiple of `width`.
LagGrid lag_grid(index_t lags, index_t width);

/// exp(l2 a_k) for l2 < B, vectors along l2: (B / W, r) vectors.
template <Scalar T>
Array<real_t<T>, 1> fine_along_lags(const View<const T, 1>& a, const LagGrid& grid);
/// exp(l2 a_k) for l2 < B, vectors along k: (r / W rounded up, B) vectors.
template <Scalar T>
Array<real_t<T>, 1> fine_along_poles(const View<const T, 1>& a, const LagGrid& grid);
/// exp(l1 B a_k), vectors along k: (r / W rounded up, rows) vectors.
template <Scalar T>
Array<real_t<T>, 1> coarse_along_poles(const View<const T, 1>& a, const LagGrid& grid);
/// exp(l1 B a_k): (rows, r).
template <Scalar T>
Array<T, 2> coarse(const View<const T, 1>& a, const LagGrid& grid);

/// y_l := sum_k g(l1, k) exp(l2 a_k) for the lags of rows [first, last), or with Out = real_t<T> its
/// real part. g: (last - first, r) contiguous; y: one value for each lag from first B on.
template <Scalar T, class Out>
void sum_over_poles(const LagGrid& grid, const Array<real_t<T>, 1>& fine, index_t poles, const T* g,
                    index_t first, index_t last, Out* y);

/// c_k := sum_l x_l exp(l a_k) for the W poles of vector `vector`. x: L contiguous; c: W.
template <Scalar T>
void sum_over_lags(const LagGrid& grid, const Array<real_t<T>, 1>& fine,
                   const Array<real_t<T>, 1>& coarse, index_t vector, const T* x, T* c);

}  // namespace structmat::vandermonde
