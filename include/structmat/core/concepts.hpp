/// \file
/// What an operator offers, as C++20 concepts.
#pragma once

#include <concepts>

#include "structmat/core/scalar.hpp"
#include "structmat/core/view.hpp"

namespace structmat {

/// A linear map on columns: apply computes y := A x and apply_adjoint y := A^H x for x of k
/// columns. x is (cols, k) and y is (rows, k) for apply, the other way round for apply_adjoint;
/// they do not overlap.
template <class A>
concept LinearOperator = Scalar<typename A::value_type> &&
    requires(const A& a, View<const typename A::value_type, 2> x,
             View<typename A::value_type, 2> y) {
  { a.rows() } -> std::convertible_to<index_t>;
  { a.cols() } -> std::convertible_to<index_t>;
  a.apply(x, y);
  a.apply_adjoint(x, y);
};

/// Single entries can be had without forming the matrix.
template <class A>
concept Entrywise = LinearOperator<A> && requires(const A& a, index_t i) {
  { a.entry(i, i) } -> std::convertible_to<typename A::value_type>;
};

/// A x = b can be solved.
template <class A>
concept Solvable = LinearOperator<A> &&
    requires(const A& a, View<const typename A::value_type, 2> b,
             View<typename A::value_type, 2> x) {
  a.solve(b, x);
};

/// Holds `batch()` matrices of one shape.
template <class A>
concept Batched = requires(const A& a) {
  { a.batch() } -> std::convertible_to<index_t>;
};

}  // namespace structmat
