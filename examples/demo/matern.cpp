#include <cmath>

#include "problem.hpp"

namespace demo {

Problem matern(const Series& co2) {
  constexpr double length_scale = 1;  // years
  constexpr double noise = 0.1;       // standard deviation, relative to that of the process
  const auto n = static_cast<index_t>(co2.time.size());

  Problem problem;
  problem.name = "matern";
  problem.title =
      "Mat\u00e9rn-3/2 covariance of " + std::to_string(n) + " irregular CO2 sampling times";
  problem.because = "a sum of two products f(t_i) g(t_j) on either side of the diagonal";
  problem.least = problem.most = {2, 2};
  problem.matrix = Array<double, 2>({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const double s = std::sqrt(3.0) * std::abs(co2.time[i] - co2.time[j]) / length_scale;
      problem.matrix(i, j) = (1 + s) * std::exp(-s) + (i == j ? noise * noise : 0);
    }
  }
  return problem;
}

}  // namespace demo
