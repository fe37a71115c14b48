/// \file
/// Checks of the operands of sums over conjugate pairs, on the host and on a device.
#pragma once

#include <string>

#include "structmat/core/error.hpp"
#include "structmat/core/shape.hpp"

namespace structmat::cauchy {

/// v, w, z broadcast to their common batch.
template <class T, class Space>
struct ConjugateOperands {
  View<const T, 2, Space> v, w, z;
  index_t batch = 0, poles = 0, nodes = 0;

  /// Throws ShapeError, also where `sums`, called `name`, is not (batch, nodes).
  template <class U>
  ConjugateOperands(const char* operation, const View<const T, 2, Space>& given_v,
                    const View<const T, 2, Space>& given_w, const View<const T, 2, Space>& given_z,
                    const char* name, const View<U, 2, Space>& sums)
      : poles(given_v.extent(1)), nodes(given_z.extent(1)) {
    detail::Shape shape(operation, 1);
    shape.require("v", given_v, {poles});
    shape.require("w", given_w, {poles});
    shape.require("z", given_z, {nodes});
    batch = shape.batch();
    v = given_v.broadcast(0, batch);
    w = given_w.broadcast(0, batch);
    z = given_z.broadcast(0, batch);
    if (sums.extent(0) != batch || sums.extent(1) != nodes) {
      throw ShapeError(std::string(operation) + ": " + name + " is " +
                       std::to_string(sums.extent(0)) + " x " + std::to_string(sums.extent(1)) +
                       ", the sums are " + std::to_string(batch) + " x " + std::to_string(nodes));
    }
  }

  /// Throws DomainError where an output overlaps an operand.
  template <class U>
  void require_apart(const char* operation, const char* name,
                     const View<U, 2, Space>& output) const {
    for (const auto* operand : {&v, &w, &z}) {
      if (overlaps(output, *operand)) {
        throw DomainError(std::string(operation) + ": " + name + " overlaps an operand in memory");
      }
    }
  }
};

}  // namespace structmat::cauchy
