/// \file
/// The lower triangle of a Hermitian quasiseparable matrix as input.
#pragma once

#include <cmath>
#include <string>

#include "structmat/core/error.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {

/// p, q, a, d over the batch of `m`, or over `batch` if that is larger; the upper triangle is not
/// looked at. Throws ShapeError; DomainError where the diagonal has a non-zero imaginary part. One
/// that is not finite is left to the pivots to report.
template <Scalar T, transition::Uniform K>
QuasiseparableView<T, K> checked_hermitian(const QuasiseparableView<T, K>& m, const char* operation,
                                           index_t batch = 1) {
  recurrence::Shape shape(operation, batch, m.size());
  const index_t r = m.order().lower;
  shape.require("d", m.d, 0);
  shape.require("p", m.p, r);
  shape.require("q", m.q, r);
  shape.require("a", m.a, r);
  if constexpr (is_complex_v<T>) {
    for (index_t b = 0; b < m.batch(); ++b) {
      for (index_t i = 0; i < m.size(); ++i) {
        const auto imaginary = m.d(b, i).imag();
        if (imaginary == 0 || !std::isfinite(imaginary)) continue;
        throw DomainError(std::string(operation) + ": diagonal entry " + std::to_string(i) +
                          " of batch entry " + std::to_string(b) + " has the imaginary part " +
                          std::to_string(imaginary) + ", a Hermitian matrix has a real diagonal");
      }
    }
  }
  const index_t all = shape.batch();
  return {m.p.broadcast(0, all), m.q.broadcast(0, all), m.a.broadcast(0, all),
          m.d.broadcast(0, all)};
}

}  // namespace structmat::quasiseparable
