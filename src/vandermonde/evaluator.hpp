/// \file
/// Fast methods for polynomials at a fixed set of nodes, each with its transpose.
#pragma once

#include <memory>
#include <vector>

#include "vandermonde/power.hpp"

namespace structmat::vandermonde {

/// Const use is safe from several threads.
template <RealScalar R>
class Evaluator {
 public:
  using C = std::complex<R>;
  virtual ~Evaluator() = default;
  /// values_i := sum_j c_j x_i^j.
  virtual void evaluate(int threads, const C* c, C* values) const = 0;
  /// c_j := sum_i values_i x_i^j.
  virtual void sum(int threads, const C* values, C* c) const = 0;
};

/// A node as x = exp(radius + i angle).
struct Polar {
  double radius = 0;
  TwoDoubles angle;
};

/// The number of circles between min and max (of log|x|) for n coefficients, so that interpolation
/// loses no more than the tolerance.
int circle_count(double min, double max, index_t n, double tolerance);

/// Horner's rule.
template <RealScalar R>
std::unique_ptr<Evaluator<R>> direct_evaluator(std::vector<std::complex<R>> nodes, index_t n);

/// Nonuniform Fourier transforms on `circles` circles. log|x| <= 1 / n about.
template <RealScalar R>
std::unique_ptr<Evaluator<R>> circles_evaluator(const std::vector<Polar>& nodes, index_t n,
                                                int circles, double tolerance);

/// Quotients of Cauchy sums over the n-th roots of unity. |x| <= 1 about.
template <RealScalar R>
std::unique_ptr<Evaluator<R>> barycentric_evaluator(const std::vector<std::complex<R>>& nodes,
                                                    index_t n, double tolerance);

}  // namespace structmat::vandermonde
