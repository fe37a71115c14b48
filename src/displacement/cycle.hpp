/// \file
/// Linear recurrences that close on themselves.
#pragma once

#include <cmath>
#include <limits>

#include "core/product.hpp"

namespace structmat::displacement {

/// Solves a_t x_t - b_t x_{t+1} = m_t for t = 0 .. length-1 with x_length = x_0, and calls set(t, x_t)
/// for every t. a, b, m: functions of t.
///
/// The recurrence runs the way in which it contracts over one turn. False, and nothing is set, when
/// the product of all a equals that of all b up to rounding: the equations are then singular. Cost:
/// two turns. Accuracy: backward stable but for growth inside a turn; the error is amplified by 1 /
/// |1 - quotient of the products|.
template <Scalar T, class A, class B, class M, class Set>
bool solve_cycle(index_t length, const A& a, const B& b, const M& m, const Set& set) {
  double log_a = 0, log_b = 0;
  for (index_t t = 0; t < length; ++t) {
    log_a += std::log(double(std::abs(a(t))));
    log_b += std::log(double(std::abs(b(t))));
  }
  constexpr double zero = -std::numeric_limits<double>::infinity();
  if (log_a == zero && log_b == zero) return false;

  const bool forward = log_a <= log_b;
  // x_next = alpha x + beta at each step.
  const auto step = [&](index_t t, const T& x) {
    return forward ? (product(a(t), x) - m(t)) / b(t) : (product(b(t), x) + m(t)) / a(t);
  };
  const auto turn = [&](T x, const auto& visit) {
    for (index_t s = 0; s < length; ++s) {
      const index_t t = forward ? s : length - 1 - s;
      if (forward) visit(t, x);
      x = step(t, x);
      if (!forward) visit(t, x);
    }
    return x;
  };
  T quotient{1};
  for (index_t t = 0; t < length; ++t) {
    quotient = product(quotient, forward ? a(t) / b(t) : b(t) / a(t));
  }
  const T gap = T{1} - quotient;
  if (std::abs(gap) <= real_t<T>(4) * real_t<T>(length) * epsilon<T>) return false;
  const T from_zero = turn(T{}, [](index_t, const T&) {});
  turn(from_zero / gap, set);
  return true;
}

}  // namespace structmat::displacement
