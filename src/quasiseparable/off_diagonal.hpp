/// \file
/// Checks of a diagonal of n entries beside vectors of n - 1.
#pragma once

#include <algorithm>

#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {

/// Views of one diagonal and two vectors that are one entry shorter, broadcast over their batch.
template <class T>
struct OffDiagonals {
  View<const T, 2> diagonal, below, above;

  /// Throws ShapeError, on behalf of `operation`.
  OffDiagonals(const char* operation, const View<const T, 2>& d, const char* below_name,
               const View<const T, 2>& b, const char* above_name, const View<const T, 2>& a) {
    const index_t n = d.extent(1);
    recurrence::Shape full(operation, 1, n);
    full.require("diagonal", d, 0);
    recurrence::Shape shorter(operation, full.batch(), std::max<index_t>(n - 1, 0));
    shorter.require(below_name, b, 0);
    shorter.require(above_name, a, 0);
    diagonal = d.broadcast(0, shorter.batch());
    below = b.broadcast(0, shorter.batch());
    above = a.broadcast(0, shorter.batch());
  }

  index_t batch() const { return diagonal.extent(0); }
  index_t size() const { return diagonal.extent(1); }
};

}  // namespace structmat::quasiseparable
