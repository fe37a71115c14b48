/// \file
/// Random Toeplitz, Hankel and circulant matrices, and the matrices of their absolute values.
#pragma once

#include "structmat/toeplitz/plan.hpp"
#include "support/random.hpp"

namespace structmat {

// Found by argument-dependent lookup from the battery.

template <class T, int Rank>
Array<T, Rank> absolute_values(Array<T, Rank> a) {
  for (T& v : a) v = std::abs(v);
  return a;
}

template <Scalar T>
Toeplitz<T> absolute(Toeplitz<T> m) {
  m.lags = absolute_values(m.lags);
  return m;
}
template <Scalar T>
Hankel<T> absolute(Hankel<T> m) {
  m.anti_diagonals = absolute_values(m.anti_diagonals);
  return m;
}

/// Moduli of a matrix that does not stay in its family.
template <Scalar T>
struct AbsoluteDense {
  Array<T, 3> entries;
  const Array<T, 3>& to_dense() const { return entries; }
};

template <Scalar T>
AbsoluteDense<T> absolute(const Circulant<T>& m) {
  return {absolute_values(m.to_dense())};
}
template <Scalar T>
AbsoluteDense<T> absolute(const SkewCirculant<T>& m) {
  return {absolute_values(m.to_dense())};
}
template <Scalar T>
AbsoluteDense<T> absolute(const ToeplitzPlan<T>& m) {
  return {absolute_values(m.to_dense())};
}

namespace test {

template <Scalar T>
Toeplitz<T> random_toeplitz(index_t m, index_t n, index_t batch, Random& random) {
  Toeplitz<T> t(m, n, batch);
  random.fill(t.lags);
  return t;
}
template <Scalar T>
Hankel<T> random_hankel(index_t m, index_t n, index_t batch, Random& random) {
  Hankel<T> h(m, n, batch);
  random.fill(h.anti_diagonals);
  return h;
}
template <Scalar T>
Circulant<T> random_circulant(index_t n, index_t batch, Random& random) {
  Circulant<T> c(n, batch);
  random.fill(c.column);
  return c;
}
template <Scalar T>
SkewCirculant<T> random_skew_circulant(index_t n, index_t batch, Random& random) {
  SkewCirculant<T> c(n, batch);
  random.fill(c.column);
  return c;
}

}  // namespace test
}  // namespace structmat
