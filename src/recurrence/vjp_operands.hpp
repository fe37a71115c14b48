/// \file
/// Checks of the operands of apply_vjp, for all families.
#pragma once

#include <string>

#include "structmat/core/operand.hpp"

namespace structmat::recurrence {

/// Checks x and y_bar of y = A x, and x_bar with its batch broadcast, which may be absent; returns
/// the batch of the operation. Throws ShapeError, DomainError (overlap).
template <Scalar T>
index_t check_vjp_operands(const std::string& operation, index_t own_batch, index_t n,
                           const View<const T, 3>& x, const View<const T, 3>& y_bar,
                           View<T, 3>& x_bar) {
  const auto number = [](index_t v) { return std::to_string(v); };
  for (const auto* v : {&x, &y_bar}) {
    if (v->extent(1) != n) {
      throw ShapeError(operation + ": " + (v == &x ? "x has " : "y_bar has ") +
                       number(v->extent(1)) + " rows, the operator has " + number(n));
    }
  }
  if (x.extent(2) != y_bar.extent(2)) {
    throw ShapeError(operation + ": x has " + number(x.extent(2)) + " columns, y_bar has " +
                     number(y_bar.extent(2)));
  }
  if (x.extent(0) != own_batch && x.extent(0) != 1 && own_batch != 1) {
    throw ShapeError(operation + ": x has batch " + number(x.extent(0)) + ", the operator has " +
                     number(own_batch));
  }
  const index_t batch = own_batch == 1 ? x.extent(0) : own_batch;
  if (y_bar.extent(0) != batch) {
    throw ShapeError(operation + ": y_bar has batch " + number(y_bar.extent(0)) +
                     ", the product has " + number(batch));
  }
  if (!x_bar.data()) {
    x_bar = {};
    return batch;
  }
  const auto fits = [&](int d, index_t expected) { return x_bar.extent(d) == expected; };
  if (!(fits(0, 1) || fits(0, batch)) || !fits(1, n) || !fits(2, x.extent(2))) {
    throw ShapeError(operation + ": x_bar is " + number(x_bar.extent(0)) + " x " +
                     number(x_bar.extent(1)) + " x " + number(x_bar.extent(2)) + ", x is " +
                     number(batch) + " x " + number(n) + " x " + number(x.extent(2)));
  }
  if (overlaps(View<const T, 3>(x_bar), x) || overlaps(View<const T, 3>(x_bar), y_bar)) {
    throw DomainError(operation + ": x_bar overlaps x or y_bar in memory");
  }
  x_bar = x_bar.broadcast(0, batch);
  return batch;
}

}  // namespace structmat::recurrence
