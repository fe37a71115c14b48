/// \file
/// Checks of the cotangents of a quasiseparable matrix.
#pragma once

#include "quasiseparable/transitions.hpp"
#include "recurrence/checked_cotangent.hpp"
#include "structmat/quasiseparable/cotangent.hpp"

namespace structmat::quasiseparable {

/// All cotangents, with their batch broadcast, of matrices of this size. Throws ShapeError.
template <Scalar T, transition::Uniform K, class Space>
QuasiseparableCotangent<T, K, Space> checked_cotangent(const char* operation,
                                                       QuasiseparableCotangent<T, K, Space> bar,
                                                       index_t batch, index_t n, Order order) {
  const auto check = [&](const char* name, auto& view, index_t r) {
    view = recurrence::checked_cotangent(operation, name, view, batch, n, r);
  };
  check("p", bar.p, order.lower);
  check("q", bar.q, order.lower);
  check("a", bar.a, order.lower);
  check("d", bar.d, 0);
  check("g", bar.g, order.upper);
  check("h", bar.h, order.upper);
  check("b", bar.b, order.upper);
  return bar;
}

/// The same places, as those of the generators of M^T (see transpose.hpp).
template <Scalar T, transition::Uniform K>
QuasiseparableCotangent<T, K> transposed(const QuasiseparableCotangent<T, K>& bar) {
  QuasiseparableCotangent<T, K> t;
  t.p = bar.h;
  t.q = bar.g;
  t.a = transposed_transitions(bar.b);
  t.d = bar.d;
  t.g = bar.q;
  t.h = bar.p;
  t.b = transposed_transitions(bar.a);
  return t;
}

/// Do several batch entries add to the same cotangents?
template <Scalar T, transition::Uniform K>
bool sums_over_batch(const QuasiseparableCotangent<T, K>& bar) {
  const auto one = [](const auto& v) { return v.data() && v.stride(0) == 0; };
  return one(bar.p) || one(bar.q) || one(bar.a) || one(bar.d) || one(bar.g) || one(bar.h) ||
         one(bar.b);
}

}  // namespace structmat::quasiseparable
