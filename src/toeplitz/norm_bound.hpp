/// \file
/// A lower bound of the norm of a Toeplitz matrix.
#pragma once

#include <cmath>

#include "core/scale.hpp"
#include "structmat/toeplitz/toeplitz.hpp"
#include "toeplitz/magnitude.hpp"

namespace structmat::toeplitz {

/// ||T||_F / sqrt(n) <= ||T||_2 of one batch entry, n x n. Squares do not leave the range of double.
template <Scalar T>
double norm_bound(const ToeplitzView<T>& m, index_t batch) {
  const index_t n = m.rows();
  if (n == 0) return 0;
  const int exponent = scale_exponent(m.lags.select(0, batch));
  double sum = 0;
  for (index_t l = 1 - n; l < n; ++l) {
    sum += double(n - std::abs(l)) * std::norm(scaled(m.lags(batch, l + n - 1), -exponent));
  }
  return std::ldexp(std::sqrt(sum / double(n)), exponent);
}

}  // namespace structmat::toeplitz
