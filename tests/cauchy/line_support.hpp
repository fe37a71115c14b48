/// \file
/// Nodes on a line that are easy and hard on trees, and the error of sums over them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "cauchy/support.hpp"

namespace structmat::test {

template <RealScalar R>
struct Nodes {
  std::string name;
  std::vector<R> s, t;
};

/// n nodes each way, from pairs of numbers in [-1, 1).
template <RealScalar R, class Place>
Nodes<R> placed(const std::string& name, index_t m, index_t n, const Place& place) {
  Random random(11);
  Nodes<R> nodes{name, std::vector<R>(m), std::vector<R>(n)};
  for (auto* side : {&nodes.s, &nodes.t}) {
    for (R& v : *side) {
      const double u = random.real();
      v = static_cast<R>(place(u, random.real()));
    }
  }
  return nodes;
}

inline std::vector<Nodes<double>> node_sets(index_t m, index_t n) {
  std::vector<Nodes<double>> sets;
  const auto add = [&](const char* name, auto place) {
    sets.push_back(placed<double>(name, m, n, place));
  };
  add("uniform", [](double u, double) { return u; });
  add("Chebyshev", [](double u, double) { return std::cos(M_PI * u); });
  add("magnitudes 1e-10 to 1e10",
      [](double u, double v) { return std::copysign(std::pow(10, 10 * u), v); });
  add("magnitudes 1e-200 to 1e200",
      [](double u, double v) { return std::copysign(std::pow(10, 200 * u), v); });
  add("a cluster of 1e-12 in an interval",
      [](double u, double v) { return v < 0.5 ? 1 + 1e-12 * u : u; });
  add("a cluster far away", [](double u, double v) { return v < 0.9 ? u : 1e6 + u; });
  add("three values", [](double u, double v) { return std::round(v) + 1e-14 * u; });
  // Many nodes for each number: cells of one and two numbers, whose centers are none.
  add("neighbouring numbers",
      [](double u, double) { return 1 + 0x1p-52 * std::floor(15 * (u + 1)); });
  auto far = sets[0];
  far.name = "one node at 1e20";
  far.t[n / 2] = far.s[m / 3] = 1e20;
  far.s[m / 3] = -1e20;
  sets.push_back(far);
  auto near = sets[0];
  near.name = "targets 1e-15 from sources";
  for (index_t i = 0; i < std::min(m, n); ++i) near.s[i] = near.t[i] * (1 + 4e-16) + 1e-15;
  sets.push_back(near);
  auto narrow = sets[0];
  narrow.name = "two clusters narrower than the smallest normal number";
  for (double& v : narrow.s) v = 1e-300 + 1e-309 * v;
  for (double& v : narrow.t) v = 3e-300 + 1e-309 * v;
  sets.push_back(narrow);
  auto same = sets[0];
  same.name = "all sources in one place";
  for (double& v : same.t) v = 0.25;
  sets.push_back(same);
  return sets;
}

/// The largest error of some rows in units of sum_j |x_j| / |s_i - t_j|.
template <RealScalar R>
double worst_error(const Nodes<R>& nodes, const Array<R, 2>& x, const Array<R, 2>& y,
                   bool exchanged = false) {
  const auto& to = exchanged ? nodes.t : nodes.s;
  const auto& from = exchanged ? nodes.s : nodes.t;
  double worst = 0;
  const index_t rows = static_cast<index_t>(to.size()), step = std::max<index_t>(1, rows / 60);
  for (index_t i = 0; i < rows; i += step) {
    for (index_t c = 0; c < x.extent(1); ++c) {
      long double sum = 0, scale = 0;
      for (std::size_t j = 0; j < from.size(); ++j) {
        const long double difference = static_cast<long double>(to[i]) - from[j];
        if (difference == 0) continue;
        const long double term = x(static_cast<index_t>(j), c) / difference;
        sum += term;
        scale += std::abs(term);
      }
      const auto error = static_cast<double>(std::abs(sum - y(i, c)));
      if (error == 0) continue;
      const double relative = error / static_cast<double>(scale);
      worst = std::isfinite(relative) ? std::max(worst, relative) : INFINITY;
    }
  }
  return worst;
}

}  // namespace structmat::test
