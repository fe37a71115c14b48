/// \file
/// Two quasiseparable operands of one operation.
#pragma once

#include <string>
#include <utility>

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// x and y with their batch extents broadcast to each other's. Throws ShapeError.
template <Scalar T, transition::Uniform K>
std::pair<QuasiseparableView<T, K>, QuasiseparableView<T, K>> checked_operands(
    const char* operation, const QuasiseparableView<T, K>& x, const QuasiseparableView<T, K>& y) {
  const index_t bx = checked(x, operation).batch(), by = checked(y, operation).batch();
  if (x.size() != y.size()) {
    throw ShapeError(std::string(operation) + ": X has size " + std::to_string(x.size()) +
                     ", Y has size " + std::to_string(y.size()));
  }
  if (bx != by && bx != 1 && by != 1) {
    throw ShapeError(std::string(operation) + ": X has batch " + std::to_string(bx) +
                     ", Y has batch " + std::to_string(by));
  }
  const index_t batch = bx == 1 ? by : bx;
  return {checked(x, operation, batch), checked(y, operation, batch)};
}

}  // namespace structmat::quasiseparable
