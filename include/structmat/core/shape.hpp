/// \file
/// Shape checks of sets of generators.
#pragma once

#include <array>
#include <string>

#include "structmat/core/error.hpp"
#include "structmat/core/view.hpp"

namespace structmat::detail {

/// Checks the extents of one generator array after the other, and collects their common batch
/// extent.
class Shape {
 public:
  Shape(const char* operation, index_t batch) : operation_(operation), batch_(batch) {}

  /// `view` must be (1 or batch, extents...).
  template <class T, int Rank, class Space>
  requires(Rank >= 2) void require(const char* name, const View<T, Rank, Space>& view,
                                   const std::array<index_t, Rank - 1>& extents) {
    for (int d = 1; d < Rank; ++d) {
      if (view.extent(d) != extents[d - 1]) {
        throw ShapeError(std::string(operation_) + ": " + name + " has extent " +
                         std::to_string(view.extent(d)) + " in dimension " + std::to_string(d) +
                         ", expected " + std::to_string(extents[d - 1]));
      }
    }
    const index_t batch = view.extent(0);
    if (batch != 1 && batch_ != 1 && batch != batch_) {
      throw ShapeError(std::string(operation_) + ": " + name + " has batch " +
                       std::to_string(batch) + ", the other generators have " +
                       std::to_string(batch_));
    }
    if (batch != 1) batch_ = batch;
  }

  index_t batch() const { return batch_; }

 private:
  const char* operation_;
  index_t batch_;
};

}  // namespace structmat::detail
