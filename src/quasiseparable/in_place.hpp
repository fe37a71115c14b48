/// \file
/// Operands of operations that may work in place.
#pragma once

#include "structmat/core/operand.hpp"

namespace structmat::quasiseparable {

/// check_operands for y := A x with n x n matrices, where y may also be x itself. Throws ShapeError,
/// DomainError (any other overlap).
template <Scalar T, class Space>
index_t check_in_place(const char* operation, index_t batch, index_t n,
                       const View<const T, 3, Space>& x, const View<T, 3, Space>& y) {
  const bool same =
      x.data() == y.data() && x.extents() == y.extents() && x.strides() == y.strides();
  const T apart{};
  const View<const T, 3, Space> elsewhere(&apart, x.extents(), {0, 0, 0});
  return detail::check_operands(operation, batch, n, n, same ? elsewhere : x, y);
}

}  // namespace structmat::quasiseparable
