/// \file
/// Checks of the operands of apply_vjp for square operators.
#pragma once

#include "core/vjp_operands.hpp"

namespace structmat::recurrence {

/// detail::check_vjp_operands for an n x n operator.
template <Scalar T>
index_t check_vjp_operands(const std::string& operation, index_t own_batch, index_t n,
                           const View<const T, 3>& x, const View<const T, 3>& y_bar,
                           View<T, 3>& x_bar) {
  return detail::check_vjp_operands(operation, own_batch, n, n, x, y_bar, x_bar);
}

}  // namespace structmat::recurrence
