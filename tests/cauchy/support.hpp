/// \file
/// Nodes for the tests of Cauchy matrices.
#pragma once

#include "structmat/cauchy/apply.hpp"
#include "support/battery.hpp"

namespace structmat::test {

/// Rows and columns with no nodes in common; complex ones anywhere in a square.
template <Scalar T>
Cauchy<T> random_cauchy(index_t m, index_t n, index_t batch, unsigned seed) {
  Random random(seed);
  Cauchy<T> c(m, n, batch);
  random.fill(c.s);
  random.fill(c.t);
  return c;
}

template <Scalar T>
CauchyLike<T> random_cauchy_like(index_t m, index_t n, index_t order, index_t batch,
                                 unsigned seed) {
  Random random(seed);
  CauchyLike<T> c(m, n, order, batch);
  for (auto* nodes : {&c.s, &c.t}) random.fill(*nodes);
  for (auto* generator : {&c.g, &c.h}) random.fill(*generator);
  return c;
}

/// The matrix of |g_i|^T |h_j| / |s_i - t_j|, which errors are measured by.
template <class M>
struct AbsoluteCauchy {
  using T = typename M::value_type;
  const M* matrix;

  Array<T, 3> to_dense() const {
    const M& m = *matrix;
    Array<T, 3> dense({m.batch(), m.rows(), m.cols()});
    for (index_t b = 0; b < m.batch(); ++b) {
      for (index_t i = 0; i < m.rows(); ++i) {
        for (index_t j = 0; j < m.cols(); ++j) {
          real_t<T> sum = 1;
          if constexpr (requires { m.g; }) {
            sum = 0;
            for (index_t l = 0; l < m.order(); ++l)
              sum += std::abs(m.g(b, i, l)) * std::abs(m.h(b, j, l));
          }
          const auto distance = std::abs(m.s(b, i) - m.t(b, j));
          dense(b, i, j) = distance == 0 ? T{} : T(sum / distance);
        }
      }
    }
    return dense;
  }
};
}  // namespace structmat::test

namespace structmat {

template <Scalar T>
test::AbsoluteCauchy<Cauchy<T>> absolute(const Cauchy<T>& m) {
  return {&m};
}
template <Scalar T>
test::AbsoluteCauchy<CauchyLike<T>> absolute(const CauchyLike<T>& m) {
  return {&m};
}

}  // namespace structmat
