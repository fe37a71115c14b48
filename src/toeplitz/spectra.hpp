/// \file
/// Products of transforms, frequency by frequency.
#pragma once

#include "core/product.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat::toeplitz {

/// One row that transforms read or write.
template <class T>
View<T, 2> as_row(T* data, index_t n) {
  return {data, {1, n}};
}

/// z := x y
template <class C>
void multiply_spectra(index_t count, const C* x, const C* y, C* z) {
  for (index_t j = 0; j < count; ++j) z[j] = product(x[j], y[j]);
}

/// z := 2 Re(x conj(y)): the transform of the two correlations of x and y together.
template <class C>
void correlate_spectra(index_t count, const C* x, const C* y, C* z) {
  for (index_t j = 0; j < count; ++j) {
    z[j] = 2 * (x[j].real() * y[j].real() + x[j].imag() * y[j].imag());
  }
}

}  // namespace structmat::toeplitz
