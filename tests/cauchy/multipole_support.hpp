/// \file
/// Node sets and sums in extended precision for the tests of the multipole method.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "cauchy/multipole.hpp"
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
  const auto m = static_cast<index_t>(set.s.size()), n = static_cast<index_t>(set.t.size());
  const index_t step = std::max<index_t>(1, m / samples);
  double worst = 0;
  for (index_t i = 0; i < m; i += step) {
    for (index_t c = 0; c < x.extent(1); ++c) {
      // Long double has exponents enough for the squares.
      long double re = 0, im = 0, all = 0;
      for (index_t j = 0; j < n; ++j) {
        const long double d_re = static_cast<long double>(set.s[i].real()) - set.t[j].real();
        const long double d_im = static_cast<long double>(set.s[i].imag()) - set.t[j].imag();
        const long double square = d_re * d_re + d_im * d_im;
        if (square == 0) continue;
        const long double x_re = x(j, c).real(), x_im = x(j, c).imag();
        re += (x_re * d_re + x_im * d_im) / square;
        im += (x_im * d_re - x_re * d_im) / square;
        all += std::sqrt((x_re * x_re + x_im * x_im) / square);
      }
      const long double error = std::hypot(y(i, c).real() - re, y(i, c).imag() - im);
      const long double rounding = std::same_as<R, float> ? epsilon<R> * std::hypot(re, im) : 0;
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
