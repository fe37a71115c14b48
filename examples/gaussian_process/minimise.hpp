/// \file
/// Limited-memory BFGS.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace gaussian_process {

struct Value {
  double value;
  std::vector<double> gradient;
};

/// Unset where the function is not defined.
using Function = std::function<std::optional<Value>(const std::vector<double>&)>;

struct Minimum {
  std::vector<double> x;
  double value;
  double gradient_norm;  ///< the largest entry
  int steps, evaluations;
  bool converged;
};

/// From x, until no entry of the gradient exceeds `tolerance` or `most_steps` were taken. Throws
/// std::invalid_argument when f is not defined at x. Source: Nocedal, Wright, "Numerical
/// Optimization" (2006), algorithms 7.4 and 3.1.
Minimum minimise(const Function& f, std::vector<double> x, double tolerance, int most_steps);

}  // namespace gaussian_process
