/// \file
/// What the randomised check concludes from its compressions, wherever those were computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "structmat/core/op.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/verify/randomised.hpp"
#include "verify/gaussian.hpp"

namespace structmat::verify {

inline constexpr auto randomised_name = "verify::randomised";

/// One family of blocks, and how to ask for its compressions.
template <Scalar T>
struct Family {
  index_t size = 0, probes = 0, order = 0;
  index_t sides = 1;  ///< blocks at one k: 2 for the sum
  std::optional<Part> part{};
  double epsilon = 0;
  /// Entry k: an upper bound of sigma_{order+1}(M_k), for 0 < k < size. Those above `limit` leave a doubt:
  /// it may pay to make them sharper.
  std::function<std::vector<double>(double limit)> bounds{};
  std::function<Array<T, 2>(index_t k)> compression{};
  /// op(block at k) x
  std::function<Array<T, 2>(index_t k, Op op, View<const T, 2> x)> block{};
  /// A copy of the rows of G1 that the columns of block k meet.
  std::function<Array<T, 2>(index_t k)> probes_of{};

  bool can_exceed(index_t k) const { return sides * std::min(k, size - k) > order; }
  index_t blocks() const {
    index_t count = 0;
    for (index_t k = 1; k < size; ++k) count += can_exceed(k);
    return count;
  }
};

inline void check_options(const RandomisedOptions& o) {
  const auto refuse = [](const std::string& what) {
    throw DomainError(std::string(randomised_name) + ": " + what);
  };
  if (o.relative != Relative::matrix) {
    throw Unsupported(std::string(randomised_name) +
                      ": relative to the block is not offered, only relative to the matrix");
  }
  if (o.order.lower < 0 || o.order.upper < 0) {
    refuse("the order asked for is (" + std::to_string(o.order.lower) + ", " +
           std::to_string(o.order.upper) + "), it must not be negative");
  }
  if (o.tolerance && !(*o.tolerance >= 0)) {
    refuse("the tolerance is " + std::to_string(*o.tolerance) + ", it must be at least 0");
  }
  if (o.oversampling < 0) {
    refuse("the oversampling is " + std::to_string(o.oversampling) + ", it must be at least 0");
  }
  if (!(o.failure_probability > 0 && o.failure_probability < 1)) {
    refuse("the failure probability is " + std::to_string(o.failure_probability) +
           ", it must lie between 0 and 1");
  }
}

/// 1 / ||A||_F, 0 for A = 0.
template <Scalar T>
T scale_of(index_t n, double norm) {
  using Limits = std::numeric_limits<real_t<T>>;
  if (norm == 0) return T{};
  const double largest = double(Limits::max()) / (16 * std::sqrt(double(n))),
               least = double(Limits::min()) / double(Limits::epsilon());
  if (!(norm >= least && norm <= largest)) {
    throw DomainError(std::string(randomised_name) + ": ||A||_F is " + std::to_string(norm) +
                      ", products with it leave the range of the scalar type");
  }
  return T(real_t<T>(1 / norm));
}

inline index_t probe_count(index_t order, index_t oversampling) {
  return order + 1 + oversampling;
}

/// A lower bound of sigma_{order+1} of the block at k, relative to ||A||_F.
template <Scalar T>
double lower_bound(const Family<T>& f, index_t k, T scale) {
  using R = real_t<T>;
  const index_t s = f.probes;
  Array<T, 2> x = f.probes_of(k);
  for (T& v : x) v *= scale;
  const Array<T, 2> y = f.block(k, Op::none, x);
  // Y^H = U S V^H, Q = V.
  const index_t m = y.extent(0), rank = std::min(m, s);
  Array<T, 2> adjoint({s, m}, uninitialized), v({m, rank});
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < s; ++j) adjoint(j, i) = conjugate(y(i, j));
  }
  Array<R, 1> values({rank});
  dense::svd_right<T>(adjoint, values, v.view().transposed());
  for (T& e : v) e = conjugate(e) * scale;
  const Array<T, 2> b = f.block(k, Op::adjoint, v);
  Array<R, 1> sigma({std::min(b.extent(0), b.extent(1))});
  dense::singular_values<T>(b, sigma);
  const double found = f.order < sigma.extent(0) ? double(sigma(f.order)) : 0;
  return std::max(0.0, found - double(f.size) * double(epsilon<T>));
}

template <Scalar T>
double rounding(const Family<T>& f, double drift) {
  return 4 * double(f.probes) * double(epsilon<T>) + drift;
}

/// Sets tolerance and failure probability of the report and epsilon of the families.
template <Scalar T>
void set_levels(std::vector<Family<T>>& families, const RandomisedOptions& options,
                RandomisedReport& report) {
  index_t blocks = 0;
  for (const auto& f : families) blocks += f.blocks();
  report.failure_probability = blocks > 0 ? options.failure_probability : 0;
  const double share = options.failure_probability / double(2 * std::max<index_t>(blocks, 1));
  double least = 0;
  for (auto& f : families) {
    const index_t s = f.probes;
    f.epsilon = least_singular_value<T>(f.order + 1, s, share);
    const double noise = double(report.size + 10 * s) * double(epsilon<T>);
    least = std::max(least, noise / (f.epsilon * f.epsilon));
  }
  report.tolerance = options.tolerance.value_or(least);
}

/// Compares all M_k with what the tolerance allows; where one exceeds it, looks at its block.
template <Scalar T>
void judge(const Family<T>& f, T scale, RandomisedReport& report) {
  if (f.blocks() == 0) return;
  const double error = rounding(f, report.drift), gain = f.epsilon * f.epsilon;
  std::vector<double> bound = f.bounds(report.tolerance * gain - error);
  const auto detectable = [&](index_t k) { return (bound[k] + error) / gain; };
  std::vector<index_t> doubtful;
  for (index_t k = 1; k < report.size; ++k) {
    if (f.can_exceed(k) && detectable(k) > report.tolerance) doubtful.push_back(k);
  }
  std::stable_sort(doubtful.begin(), doubtful.end(),
                   [&](index_t a, index_t b) { return bound[a] > bound[b]; });
  Verdict verdict = Verdict::holds;
  double lower = 0;
  index_t worst = 0;
  for (const index_t k : doubtful) {
    // The bound may exceed the singular value by some factor.
    const Array<T, 2> m = f.compression(k);
    Array<real_t<T>, 1> sigma({m.extent(0)});
    dense::singular_values<T>(m, sigma);
    bound[k] = std::min(bound[k], double(sigma(f.order)));
    if (detectable(k) <= report.tolerance) continue;
    worst = k;
    lower = lower_bound(f, k, scale);
    verdict = lower > report.tolerance ? Verdict::violated : Verdict::undecided;
    break;
  }
  double most = 0;
  for (index_t k = 1; k < report.size; ++k) {
    if (!f.can_exceed(k)) continue;
    most = std::max(most, detectable(k));
    if (worst == 0 || (verdict == Verdict::holds && bound[k] > bound[worst])) worst = k;
  }

  // A violation decides, whatever the other family has; of equal verdicts the larger block shows.
  const auto weight = [](Verdict v) {
    return v == Verdict::violated ? 2 : v == Verdict::undecided ? 1 : 0;
  };
  const CompressedBlock block{worst, f.part, bound[worst] + error, lower};
  const int change = weight(verdict) - weight(report.verdict);
  if (!report.worst || change > 0 || (change == 0 && most > report.detectable)) {
    report.worst = block;
  }
  if (change > 0) report.verdict = verdict;
  report.detectable = std::max(report.detectable, most);
}

}  // namespace structmat::verify
