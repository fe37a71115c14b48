/// \file
/// What solvers ask of a Toeplitz or Hankel matrix.
#pragma once

#include <string>

#include "structmat/core/error.hpp"

namespace structmat::toeplitz {

/// Throws ShapeError "operation: the matrix is 2 x 3, ...".
template <class V>
void require_square(const char* operation, const V& m) {
  if (m.rows() == m.cols()) return;
  throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.rows()) + " x " +
                   std::to_string(m.cols()) +
                   ", it must be square (least squares are not offered)");
}

}  // namespace structmat::toeplitz
