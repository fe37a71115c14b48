/// \file
/// Node sets and sums in extended precision for the tests of the multipole method.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "../../src/cauchy/multipole.hpp"
#include "support/random.hpp"

namespace structmat::test {

template <RealScalar R>
using Nodes = std::vector<std::complex<R>>;

template <RealScalar R>
View<const std::complex<R>, 1> view_of(const Nodes<R>& nodes) {
  return nodes;
}

template <RealScalar R>
struct NodeSet {
  std::string name;
  Nodes<R> s, t;
};

/// m targets and n sources, made by node(i, random) in turn.
template <RealScalar R, class Node>
NodeSet<R> node_set(const std::string& name, index_t m, index_t n, const Node& node) {
  Random random(7);
  NodeSet<R> set{name, Nodes<R>(m), Nodes<R>(n)};
  for (auto* nodes : {&set.s, &set.t}) {
    index_t i = 0;
    for (auto& z : *nodes) z = std::complex<R>(node(i++, random));
  }
  return set;
}

/// The largest error in row i <= m of y in units of sum_j |x_j| / |s_i - t_j|, over about `samples`
/// rows and all columns. Equal nodes are left out. What R cannot resolve of y itself is taken off.
template <RealScalar R>
double error_of(const NodeSet<R>& set, const View<const std::complex<R>, 2>& x,
                const View<const std::complex<R>, 2>& y, index_t samples = 60) {
  using Extended = std::complex<long double>;
  const auto m = static_cast<index_t>(set.s.size()), n = static_cast<index_t>(set.t.size());
  const index_t step = std::max<index_t>(1, m / samples);
  double worst = 0;
  for (index_t i = 0; i < m; i += step) {
    for (index_t c = 0; c < x.extent(1); ++c) {
      Extended sum = 0;
      long double all = 0;
      for (index_t j = 0; j < n; ++j) {
        const Extended d = Extended(set.s[i]) - Extended(set.t[j]);
        if (d == Extended(0)) continue;
        const Extended term = Extended(x(j, c)) / d;
        sum += term;
        all += std::abs(term);
      }
      const long double error = std::abs(Extended(y(i, c)) - sum);
      const long double rounding = std::same_as<R, float> ? epsilon<R> * std::abs(sum) : 0;
      if (!std::isfinite(error)) return HUGE_VAL;
      if (error > rounding) worst = std::max(worst, static_cast<double>((error - rounding) / all));
    }
  }
  return worst;
}

/// What the method promises.
inline double allowed(double tolerance) {
  return tolerance + 100 * epsilon<double>;
}

template <RealScalar R>
double error_of(const NodeSet<R>& set, R tolerance, index_t k,
                Coincidence coincidence = Coincidence::error) {
  using C = std::complex<R>;
  Random random(3);
  const auto x = random.array<C, 2>({static_cast<index_t>(set.t.size()), k});
  Array<C, 2> y({static_cast<index_t>(set.s.size()), k});
  const cauchy::Multipole<R> plan(view_of(set.s), view_of(set.t), tolerance, coincidence);
  plan.apply(exec::cpu{}, x, y);
  return error_of<R>(set, x.view(), std::as_const(y).view());
}

}  // namespace structmat::test
