/// \file
/// Iterative refinement of solutions, with the backward error that was reached.
#pragma once

#include <algorithm>
#include <cmath>

#include "structmat/core/array.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat {

struct Refinement {
  /// ||b - A x|| / (||A|| ||x|| + ||b||), the largest over columns and batch, with a lower bound of
  /// ||A||_2 in place of it; infinite where it is not a number.
  double backward_error = 0;
  int steps = 0;
};

/// Corrects x with A x = b by solutions for its residual, until the backward error is at rounding level
/// or does not halve.
///
/// b: (batch or 1, n, k), x: (batch, n, k) in/out; norm(batch): a lower bound of ||A||_2; multiply(x,
/// y): y := A x; solve(r): r := A^-1 r; most: the number of steps at most.
template <Scalar T, class Norm, class Multiply, class Solve>
Refinement refine(const View<const T, 3>& b, const View<T, 3>& x, int most, const Norm& norm,
                  const Multiply& multiply, const Solve& solve) {
  const auto length = [](const View<const T, 3>& v, index_t batch, index_t column) {
    return dense::frobenius_norm<T>(v.select(0, batch).slice(1, column, column + 1));
  };
  const View<const T, 3> right = b.broadcast(0, x.extent(0));
  Array<T, 3> r(x.extents());
  // r := b - A v, and the backward error of v.
  const auto residual = [&](const View<const T, 3>& v) {
    multiply(v, r.view());
    double worst = 0;
    for (index_t batch = 0; batch < r.extent(0); ++batch) {
      for (index_t i = 0; i < r.extent(1); ++i) {
        for (index_t c = 0; c < r.extent(2); ++c) {
          r(batch, i, c) = right(batch, i, c) - r(batch, i, c);
        }
      }
      const double bound = norm(batch);
      for (index_t c = 0; c < r.extent(2); ++c) {
        const double left = length(std::as_const(r).view(), batch, c);
        if (left == 0) continue;
        const double of_b = length(right, batch, c), of_x = length(v, batch, c);
        const double error = left / (std::max(bound * of_x, of_b) + of_b);
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      }
    }
    return worst;
  };

  Refinement result{residual(x), 0};
  const double enough = 4 * double(epsilon<T>);
  while (result.steps < most && result.backward_error > enough &&
         std::isfinite(result.backward_error)) {
    Array<T, 3> better = to_array(x);
    solve(r.view());
    for (index_t i = 0; i < better.size(); ++i) better.data()[i] += r.data()[i];
    const double error = residual(std::as_const(better).view());
    if (!(error < result.backward_error)) break;
    const bool halved = error <= result.backward_error / 2;
    copy(std::as_const(better).view(), x);
    result.backward_error = error;
    ++result.steps;
    if (!halved) break;
  }
  return result;
}

}  // namespace structmat
