/// \file
/// Is a Toeplitz matrix Hermitian?
#pragma once

#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

/// The first l >= 0 with c_{-l} != conj(c_l) in one batch entry of a square matrix; -1 if there is
/// none. NaN on either side does not count: it is for others to report.
template <Scalar T>
index_t unequal_lag(const ToeplitzView<T>& m, index_t batch) {
  const index_t n = m.rows();
  for (index_t l = 0; l < n; ++l) {
    const T below = m.lags(batch, n - 1 + l), above = m.lags(batch, n - 1 - l);
    if (below == conjugate(above) || below != below || above != above) continue;
    return l;
  }
  return -1;
}

}  // namespace structmat::toeplitz
