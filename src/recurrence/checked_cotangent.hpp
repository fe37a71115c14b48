/// \file
/// The shape check of one cotangent.
#pragma once

#include <string>

#include "structmat/recurrence/shape.hpp"

namespace structmat::recurrence {

/// `bar` with its batch broadcast; empty if it is absent. Throws ShapeError.
template <class T, int Rank, class Space>
View<T, Rank, Space> checked_cotangent(const char* operation, const std::string& name,
                                       const View<T, Rank, Space>& bar, index_t batch, index_t n,
                                       index_t r) {
  if (!bar.data()) return {};
  const std::string full = "the cotangent of " + name;
  Shape(operation, 1, n).require(full.c_str(), bar, r);
  if (bar.extent(0) != 1 && bar.extent(0) != batch) {
    throw ShapeError(std::string(operation) + ": " + full + " has batch " +
                     std::to_string(bar.extent(0)) + ", the operation has " +
                     std::to_string(batch));
  }
  return bar.broadcast(0, batch);
}

/// One entry of a batch of cotangents, which may be absent.
template <class T, int Rank>
View<T, Rank - 1> entry_of(const View<T, Rank>& bar, index_t batch) {
  return bar.data() ? bar.select(0, batch) : View<T, Rank - 1>{};
}

}  // namespace structmat::recurrence
