/// \file
/// Nodes of Vandermonde matrices that are roots of the corner.
#pragma once

#include <cmath>
#include <string>

#include "structmat/core/error.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::cauchy {

/// `gap` = x^n - corner of node i: throws DomainError where that is rounding, or not finite.
template <ComplexScalar C>
void require_distinct(const char* operation, const C& gap, const C& corner, index_t n, index_t i,
                      index_t batch) {
  const auto rounding = real_t<C>(4) * static_cast<real_t<C>>(n) * epsilon<C> * std::abs(corner);
  const std::string node = "node " + std::to_string(i) + " of batch entry " + std::to_string(batch);
  if (!std::isfinite(std::abs(gap))) {
    throw DomainError(std::string(operation) + ": power " + std::to_string(n) + " of " + node +
                      " is not finite");
  }
  if (std::abs(gap) > rounding) return;
  throw DomainError(std::string(operation) + ": " + node + " is a root of z^" + std::to_string(n) +
                    " = corner up to rounding; take another corner");
}

}  // namespace structmat::cauchy
