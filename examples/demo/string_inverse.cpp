#include <algorithm>
#include <cmath>
#include <cstdio>

#include "problem.hpp"

namespace demo {

namespace {

/// Largest entry of |K G - I| for the stiffness matrix K of linear elements, which is tridiagonal:
///   K_ii = 1/h_i + 1/h_{i+1},  K_{i,i+1} = -1/h_{i+1},  h_i = t_i - t_{i-1}.
/// Each entry is relative to the sum of the absolute values of its terms, the scale of their
/// rounding.
double residual(const std::vector<double>& t, const Array<double, 2>& g) {
  const index_t n = g.extent(0);
  const auto at = [&](index_t i, index_t j) { return i < 0 || i >= n ? 0 : g(i, j); };
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    const double left = 1 / (t[i + 1] - t[i]), right = 1 / (t[i + 2] - t[i + 1]);
    for (index_t j = 0; j < n; ++j) {
      const double product = (left + right) * at(i, j) - left * at(i - 1, j) - right * at(i + 1, j);
      const double scale = (left + right) * at(i, j) + left * at(i - 1, j) + right * at(i + 1, j);
      worst = std::max(worst, std::abs(product - (i == j)) / scale);
    }
  }
  return worst;
}

}  // namespace

// The string is held at its ends t_0 and t_{n+1}. For point forces linear elements are exact at the
// nodes, whatever their lengths, so K^-1 consists of values of Green's function of -u'' = f:
//   G_ij = (min(t_i, t_j) - t_0) (t_{n+1} - max(t_i, t_j)) / (t_{n+1} - t_0).
Problem string_inverse(const Series& co2) {
  const std::vector<double>& t = co2.time;
  const index_t n = static_cast<index_t>(t.size()) - 2;
  const double begin = t.front(), end = t.back();

  Problem problem;
  problem.name = "string";
  problem.title =
      "Inverse stiffness matrix of a string with " + std::to_string(n) + " unevenly spaced nodes";
  problem.because = "one product f(t_i) g(t_j) on either side of the diagonal";
  problem.least = problem.most = {1, 1};
  problem.matrix = Array<double, 2>({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const auto [low, high] = std::minmax(t[i + 1], t[j + 1]);
      problem.matrix(i, j) = (low - begin) * (end - high) / (end - begin);
    }
  }

  constexpr double bound = 1e-14;  // 45 eps; a product of three rounded terms needs about 10
  const double worst = residual(t, problem.matrix);
  char text[128];
  std::snprintf(text, sizeof text, "|K G - I| <= %.1e (|K| |G|), bound %.0e: it is the inverse",
                worst, bound);
  problem.notes.push_back(text);
  problem.ok = worst <= bound;
  return problem;
}

}  // namespace demo
