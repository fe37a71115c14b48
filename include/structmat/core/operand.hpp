/// \file
/// How free functions take their operands: a View, an Array or a std::vector of rank 1 (n), 2 (n, k) or
/// 3 (batch, n, k) becomes the (batch, n, k) view in which operations compute.
#pragma once

#include <concepts>
#include <ranges>
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
concept Operand = requires(X& x) { as_batch(to_view(x)); };

}  // namespace structmat::detail
