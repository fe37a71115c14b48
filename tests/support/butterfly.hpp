/// \file
/// Random butterfly and Monarch matrices, and those of their absolute parameters.
#pragma once

#include <cmath>

#include "structmat/butterfly/butterfly.hpp"
#include "structmat/butterfly/monarch.hpp"
#include "support/random.hpp"

namespace structmat {

template <Scalar T>
Butterfly<T> absolute(Butterfly<T> m) {
  for (T& v : m.factors) v = std::abs(v);
  return m;
}
template <Scalar T>
Monarch<T> absolute(Monarch<T> m) {
  for (auto* w : {&m.w1, &m.w2}) {
    for (T& v : *w) v = std::abs(v);
  }
  return m;
}

namespace test {

template <Scalar T>
Butterfly<T> random_butterfly(index_t m, index_t n, index_t stages, Strides first, index_t batch,
                              Random& random) {
  Butterfly<T> a(m, n, stages, first, batch);
  random.fill(a.factors);
  return a;
}

/// Extents of the blocks of Monarch matrices.
struct MonarchShape {
  std::array<index_t, 3> first, second;
};
inline constexpr MonarchShape monarch_shapes[] = {
    {{1, 1, 1}, {1, 1, 1}}, {{0, 0, 0}, {0, 0, 0}},  {{2, 3, 4}, {3, 5, 2}},
    {{4, 4, 4}, {4, 4, 4}}, {{3, 4, 2}, {2, 7, 6}},  {{2, 9, 1}, {6, 2, 3}},
    {{5, 0, 2}, {3, 4, 0}}, {{1, 6, 13}, {6, 1, 1}}, {{11, 11, 11}, {11, 11, 11}}};

template <Scalar T>
Monarch<T> random_monarch(const MonarchShape& s, index_t batch, Random& random) {
  Monarch<T> m(s.first, s.second, batch);
  random.fill(m.w1);
  random.fill(m.w2);
  return m;
}

}  // namespace test
}  // namespace structmat
