/// \file
/// Random matrices of the families, for gen and bench.
#pragma once

#include "random.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat::cli {

/// p, q, d, g, h of N(0, 1), contracting transitions; drawn in the order p, q, a, d, g, h, b.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> random_quasiseparable(index_t n, Order order, std::uint64_t seed) {
  Random random(seed);
  Quasiseparable<T, K> m(n, order);
  random.fill(m.p);
  random.fill(m.q);
  fill_transitions(random, m.a);
  random.fill(m.d);
  random.fill(m.g);
  random.fill(m.h);
  fill_transitions(random, m.b);
  return m;
}

/// c, b of N(0, 1), contracting transitions; drawn in the order c, b, a.
template <Scalar T, transition::Uniform K>
Semiseparable<T, K> random_semiseparable(index_t n, index_t order, std::uint64_t seed) {
  Random random(seed);
  Semiseparable<T, K> m(n, order);
  random.fill(m.c);
  random.fill(m.b);
  fill_transitions(random, m.a);
  return m;
}

}  // namespace structmat::cli
