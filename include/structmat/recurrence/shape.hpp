/// \file
/// Shape checks of generator sets, shared by the families whose generators they are.
#pragma once

#include "structmat/core/shape.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat::recurrence {

/// Checks n and r of one generator array after the other, and collects their common batch extent.
class Shape {
 public:
  Shape(const char* operation, index_t batch, index_t n) : shape_(operation, batch), n_(n) {}

  /// `view` must be (1 or batch, n), (1 or batch, n, r) or (1 or batch, n, r, r).
  template <class V>
  void require(const char* name, const V& view, index_t r) {
    std::array<index_t, V::rank - 1> extents;
    extents.fill(r);
    extents[0] = n_;
    shape_.require(name, view, extents);
  }

  index_t batch() const { return shape_.batch(); }

 private:
  detail::Shape shape_;
  index_t n_;
};

}  // namespace structmat::recurrence
