/// \file
/// Checks of the operands of apply_vjp for rectangular operators of any family.
#pragma once

#include <string>

#include "structmat/core/operand.hpp"
#include "structmat/core/shape.hpp"

namespace structmat::detail {

/// Checks x and y_bar of y = op(A) x, where op(A) is out x in, and x_bar, which may be absent and
/// returns with its batch broadcast; returns the batch of the operation. Throws ShapeError,
/// DomainError (overlap).
template <Scalar T, class Space>
index_t check_vjp_operands(const std::string& operation, index_t own_batch, index_t out, index_t in,
                           const View<const T, 3, Space>& x, const View<const T, 3, Space>& y_bar,
                           View<T, 3, Space>& x_bar) {
  const auto number = [](index_t v) { return std::to_string(v); };
  const auto require_rows = [&](const char* name, const auto& v, index_t rows) {
    if (v.extent(1) != rows) {
      throw ShapeError(operation + ": " + name + " has " + number(v.extent(1)) +
                       " rows, the operator has " + number(rows));
    }
  };
  require_rows("x", x, in);
  require_rows("y_bar", y_bar, out);
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
  if (!(fits(0, 1) || fits(0, batch)) || !fits(1, in) || !fits(2, x.extent(2))) {
    throw ShapeError(operation + ": x_bar is " + number(x_bar.extent(0)) + " x " +
                     number(x_bar.extent(1)) + " x " + number(x_bar.extent(2)) + ", x is " +
                     number(batch) + " x " + number(in) + " x " + number(x.extent(2)));
  }
  const View<const T, 3, Space> bar(x_bar);
  if (overlaps(bar, x) || overlaps(bar, y_bar)) {
    throw DomainError(operation + ": x_bar overlaps x or y_bar in memory");
  }
  x_bar = x_bar.broadcast(0, batch);
  return batch;
}

/// A cotangent of shape (1 or batch, extents...) with its batch broadcast; empty if it is absent
/// (data() null). Throws ShapeError.
template <class T, int Rank, class Space>
View<T, Rank, Space> checked_cotangent(const char* operation, const std::string& name,
                                       const View<T, Rank, Space>& bar, index_t batch,
                                       const std::array<index_t, Rank - 1>& extents) {
  if (!bar.data()) return {};
  const std::string full = "the cotangent of " + name;
  Shape(operation, batch).require(full.c_str(), bar, extents);
  if (bar.extent(0) != 1 && bar.extent(0) != batch) {
    throw ShapeError(std::string(operation) + ": " + full + " has batch " +
                     std::to_string(bar.extent(0)) + ", the operation has " +
                     std::to_string(batch));
  }
  return bar.broadcast(0, batch);
}

}  // namespace structmat::detail
