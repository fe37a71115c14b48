/// \file
/// Random quasiseparable matrices over a field, and ranks by definition.
#pragma once

#include "structmat/exact/quasiseparable.hpp"

namespace structmat::exact::test {

/// Random generators whose states have between 0 and `largest` entries.
template <Field F>
Triangle<F> random_triangle(const F& field, index_t n, index_t largest, Engine& engine) {
  Triangle<F> t;
  std::uniform_int_distribution<index_t> size(0, largest);
  index_t before = 0;
  for (index_t k = 0; k < n; ++k) {
    const index_t after = k + 1 == n ? 0 : size(engine);
    t.p.push_back(Matrix<F>::random(field, 1, before, engine));
    t.a.push_back(Matrix<F>::random(field, after, before, engine));
    t.q.push_back(Matrix<F>::random(field, after, 1, engine));
    before = after;
  }
  return t;
}

template <Field F>
Quasiseparable<F> random_quasiseparable(const F& field, index_t n, Order largest, Engine& engine) {
  Quasiseparable<F> m{field,
                      random_triangle(field, n, largest.lower, engine),
                      random_triangle(field, n, largest.upper, engine),
                      {}};
  for (index_t i = 0; i < n; ++i) m.diagonal.push_back(field.random(engine));
  return m;
}

/// rank M(k:n, 0:k+extra) for all k from 1 - extra on, each by elimination.
template <Field F>
std::vector<index_t> naive_ranks(const Matrix<F>& m, index_t extra = 0) {
  std::vector<index_t> ranks;
  for (index_t k = 1 - extra; k < m.rows(); ++k) {
    ranks.push_back(echelon(m.block(k, m.rows(), 0, k + extra)).rank());
  }
  return ranks;
}

/// Sizes of the states 1 .. n-1.
template <Field F>
std::vector<index_t> states(const Triangle<F>& t) {
  std::vector<index_t> sizes;
  for (index_t k = 1; k < t.size(); ++k) sizes.push_back(t.p[k].cols());
  return sizes;
}

}  // namespace structmat::exact::test
