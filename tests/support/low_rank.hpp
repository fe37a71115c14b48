/// \file
/// Random matrices of low rank, and the matrices of their absolute factors.
#pragma once

#include <cmath>

#include "structmat/lowrank/low_rank.hpp"
#include "support/random.hpp"

namespace structmat {

template <Scalar T>
LowRank<T> absolute(LowRank<T> m) {
  for (auto* factor : {&m.u, &m.v}) {
    for (T& v : *factor) v = std::abs(v);
  }
  return m;
}

namespace test {

template <Scalar T>
LowRank<T> random_low_rank(index_t m, index_t n, index_t r, index_t batch, Random& random) {
  LowRank<T> a(m, n, r, batch);
  random.fill(a.u);
  random.fill(a.v);
  return a;
}

}  // namespace test
}  // namespace structmat
