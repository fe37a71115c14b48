/// \file
/// The discrete Fourier transform and the Walsh-Hadamard transform as butterfly matrices.
#pragma once

#include "structmat/butterfly/butterfly.hpp"

namespace structmat::butterfly {

/// The index with its lowest `levels` bits in the opposite order.
constexpr index_t bit_reversed(index_t i, index_t levels) {
  index_t r = 0;
  for (index_t l = 0; l < levels; ++l) r |= (i >> l & 1) << (levels - 1 - l);
  return r;
}

/// B with F = B P: F_jk = exp(-2 pi i j k / n), (P x)_i = x_{bit_reversed(i)}, n = 2^levels.
///
/// One stage of increasing strides, with factors [1, w; 1, -w], w = exp(-pi i k / s). Cost: n log2 n.
/// Accuracy: 2 eps in each factor. Throws ShapeError (levels < 0 or > 40). Source: Cooley, Tukey, "An
/// algorithm for the machine calculation of complex Fourier series", Math. Comp. 19 (1965).
template <ComplexScalar T>
Butterfly<T> fourier(index_t levels);

/// H_jk = (-1)^{number of common one bits of j and k}, n = 2^levels, with factors [1, 1; 1, -1]: no
/// permutation, exact. Throws ShapeError (levels < 0 or > 40).
template <Scalar T>
Butterfly<T> hadamard(index_t levels);

}  // namespace structmat::butterfly
