#include "minimise.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <stdexcept>

namespace gaussian_process {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(double factor, const Vector& from, Vector& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

double largest(const Vector& a) {
  double most = 0;
  for (const double v : a) most = std::max(most, std::abs(v));
  return most;
}

struct Pair {
  Vector step, change;  // of x and of the gradient
  double curvature;     // their inner product
};

/// -H gradient by the recursion of two loops.
Vector direction(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector d = gradient;
  std::vector<double> weights(pairs.size());
  for (std::size_t k = pairs.size(); k-- > 0;) {
    weights[k] = dot(pairs[k].step, d) / pairs[k].curvature;
    add(-weights[k], pairs[k].change, d);
  }
  // Without curvature known, a first step of length 1/2.
  const double scale = pairs.empty()
                           ? 0.5 / std::max(largest(gradient), 1e-300)
                           : pairs.back().curvature / dot(pairs.back().change, pairs.back().change);
  for (double& v : d) v *= scale;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    add(weights[k] - dot(pairs[k].change, d) / pairs[k].curvature, pairs[k].step, d);
  }
  for (double& v : d) v = -v;
  return d;
}

}  // namespace

Minimum minimise(const Function& f, std::vector<double> x, double tolerance, int most_steps) {
  constexpr std::size_t memory = 8;
  constexpr double longest = 1;  // no entry moves further in one step
  std::optional<Value> at = f(x);
  if (!at) throw std::invalid_argument("minimise: the function is not defined at the start");
  std::deque<Pair> pairs;
  int steps = 0, evaluations = 1;
  while (largest(at->gradient) > tolerance && steps < most_steps) {
    Vector d = direction(pairs, at->gradient);
    if (const double length = largest(d); length > longest) {
      for (double& v : d) v *= longest / length;
    }
    const double slope = dot(at->gradient, d);
    double share = 1;
    std::optional<Value> next;
    Vector moved;
    for (; share > 1e-12; share /= 2) {
      moved = x;
      add(share, d, moved);
      next = f(moved);
      ++evaluations;
      if (next && next->value <= at->value + 1e-4 * share * slope) break;
      next.reset();
    }
    if (!next) {
      if (pairs.empty()) break;  // steepest descent does not descend: rounding
      pairs.clear();
      continue;
    }
    Pair pair{moved, next->gradient, 0};
    add(-1, x, pair.step);
    add(-1, at->gradient, pair.change);
    pair.curvature = dot(pair.step, pair.change);
    if (pair.curvature > 1e-10 * dot(pair.change, pair.change)) pairs.push_back(std::move(pair));
    if (pairs.size() > memory) pairs.pop_front();
    x = std::move(moved);
    at = std::move(next);
    ++steps;
  }
  const double norm = largest(at->gradient);
  return {std::move(x), at->value, norm, steps, evaluations, norm <= tolerance};
}

}  // namespace gaussian_process
