/// \file
/// Inspection of block generators before work that NaN and Inf would spoil.
#pragma once

#include <cmath>
#include <string>

#include "core/finite.hpp"
#include "structmat/core/error.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
bool all_finite(const View<const T, 2>& m) {
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t j = 0; j < m.extent(1); ++j) {
      if (!is_finite(m(i, j))) return false;
    }
  }
  return true;
}

/// The first block of rows with a generator that is not finite, or the number of blocks.
template <Scalar T>
index_t first_bad_block(const Quasiseparable<T, transition::Block>& m, index_t batch) {
  const auto finite = [&](const BlockTriangle<T>& t, index_t k) {
    const index_t b = t.batch() == 1 ? 0 : batch;
    return all_finite(t.p(b, k)) && all_finite(t.a(b, k)) && all_finite(t.q(b, k));
  };
  index_t k = 0;
  while (k < m.partition.blocks() && finite(m.lower, k) && finite(m.upper_transposed, k) &&
         all_finite(m.diagonal.block(m.diagonal.batch() == 1 ? 0 : batch, k))) {
    ++k;
  }
  return k;
}

/// Throws DomainError "operation: the generators of rows 16 to 31 of batch entry 0 are not finite".
template <Scalar T>
void require_finite(const char* operation, const Quasiseparable<T, transition::Block>& m) {
  for (index_t b = 0; b < m.batch(); ++b) {
    const index_t k = first_bad_block(m, b);
    if (k == m.partition.blocks()) continue;
    throw DomainError(std::string(operation) + ": the generators of rows " +
                      std::to_string(m.partition.begin(k)) + " to " +
                      std::to_string(m.partition.offsets[k + 1] - 1) + " of batch entry " +
                      std::to_string(b) + " are not finite, only finite input has an answer");
  }
}

}  // namespace structmat::quasiseparable
