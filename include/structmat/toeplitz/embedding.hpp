/// \file
/// Toeplitz matrices as corners of circulant ones, and circulant matrices as Toeplitz ones.
#pragma once

#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat {

namespace circulant {

/// The circulant matrix C of size `size` whose leading m x n part is T: its first column holds c_0, ...,
/// c_{m-1}, zeros, c_{1-n}, ..., c_{-1}.
///
/// t: m x n with batch; size: at least m + n - 1, or 0 for fft::good_length(m + n - 1). Cost: copies.
/// Exact. Throws ShapeError.
template <Scalar T>
Circulant<T> from_toeplitz(const ToeplitzView<T>& t, index_t size = 0);

}  // namespace circulant

namespace toeplitz {

/// The leading m x n part of a circulant matrix. m, n <= its size. Exact. Throws ShapeError.
template <Scalar T>
Toeplitz<T> from_circulant(const CirculantView<T>& c, index_t m, index_t n);
/// The whole of it.
template <Scalar T>
Toeplitz<T> from_circulant(const CirculantView<T>& c) {
  return from_circulant(c, c.size(), c.size());
}
/// The same of a skew-circulant matrix: c_{-l} = -c_{n-l}.
template <Scalar T>
Toeplitz<T> from_skew_circulant(const SkewCirculantView<T>& s, index_t m, index_t n);
template <Scalar T>
Toeplitz<T> from_skew_circulant(const SkewCirculantView<T>& s) {
  return from_skew_circulant(s, s.size(), s.size());
}

}  // namespace toeplitz

}  // namespace structmat
