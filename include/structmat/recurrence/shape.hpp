/// \file
/// Shape checks of generator sets, shared by the families whose generators they are.
#pragma once

#include <string>

#include "structmat/core/error.hpp"
#include "structmat/core/view.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat::recurrence {

/// Checks n and r of one generator array after the other, and collects their common batch extent.
class Shape {
 public:
  Shape(const char* operation, index_t batch, index_t n)
      : operation_(operation), batch_(batch), n_(n) {}

  /// `view` must be (1 or batch, n), (1 or batch, n, r) or (1 or batch, n, r, r).
  template <class V>
  void require(const char* name, const V& view, index_t r) {
    for (int d = 1; d < V::rank; ++d) {
      const index_t expected = d == 1 ? n_ : r;
      if (view.extent(d) != expected) {
        throw ShapeError(std::string(operation_) + ": " + name + " has extent " +
                         std::to_string(view.extent(d)) + " in dimension " + std::to_string(d) +
                         ", expected " + std::to_string(expected));
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
  index_t batch_, n_;
};

}  // namespace structmat::recurrence
