/// \file
/// How free functions take their operands: a View, an Array or a std::vector of rank 1 (n), 2 (n,
/// k) or 3 (batch, n, k) becomes the (batch, n, k) view in which operations compute.
#pragma once

#include <concepts>
#include <ranges>
#include <string>
#include <type_traits>

#include "structmat/core/array.hpp"
#include "structmat/core/view.hpp"

namespace structmat::detail {

template <class T, int Rank, class Space>
View<T, Rank, Space> to_view(const View<T, Rank, Space>& v) {
  return v;
}
template <class T, int Rank, class Space>
View<T, Rank, Space> to_view(Array<T, Rank, Space>& a) {
  return a.view();
}
template <class T, int Rank, class Space>
View<const T, Rank, Space> to_view(const Array<T, Rank, Space>& a) {
  return a.view();
}
template <std::ranges::contiguous_range R>
auto to_view(R& range) {
  return View<std::remove_reference_t<std::ranges::range_reference_t<R>>, 1>(range);
}

/// The (batch, n, k) view of an input of scalar type T.
template <class T, class X>
auto input(const X& x) {
  const auto v = as_batch(to_view(x));
  using Space = typename decltype(v)::space_type;
  return View<const T, 3, Space>(v);
}

/// The (batch, n, k) view of an output of scalar type T. Y may be a temporary View.
template <class T, class Y>
auto output(Y& y) {
  const auto v = as_batch(to_view(y));
  using Space = typename decltype(v)::space_type;
  return View<T, 3, Space>(v);
}

template <class X>
concept Operand = requires(X& x) {
  as_batch(to_view(x));
};

/// Checks y := A x for `batch` matrices of rows x cols and returns the batch of the result.
/// A batch extent of 1, of the matrices or of x, stands for any. Throws ShapeError, DomainError
/// (overlap).
template <class T, class Space>
index_t check_operands(const std::string& operation, index_t batch, index_t rows, index_t cols,
                       const View<const T, 3, Space>& x, const View<T, 3, Space>& y) {
  const auto number = [](index_t n) { return std::to_string(n); };
  if (x.extent(1) != cols) {
    throw ShapeError(operation + ": x has " + number(x.extent(1)) + " rows, the operator has " +
                     number(cols) + " columns");
  }
  if (y.extent(1) != rows) {
    throw ShapeError(operation + ": y has " + number(y.extent(1)) + " rows, the operator has " +
                     number(rows) + " rows");
  }
  if (x.extent(2) != y.extent(2)) {
    throw ShapeError(operation + ": x has " + number(x.extent(2)) + " columns, y has " +
                     number(y.extent(2)));
  }
  if (x.extent(0) != batch && x.extent(0) != 1 && batch != 1) {
    throw ShapeError(operation + ": x has batch " + number(x.extent(0)) + ", the operator has " +
                     number(batch));
  }
  const index_t common = batch == 1 ? x.extent(0) : batch;
  if (y.extent(0) != common) {
    throw ShapeError(operation + ": y has batch " + number(y.extent(0)) + ", the product has " +
                     number(common));
  }
  if (overlaps(x, y)) throw DomainError(operation + ": x and y overlap in memory");
  return common;
}

}  // namespace structmat::detail
