/// \file
/// A Gaussian process with the covariance of a kernel plus white noise, and what it says about a
/// series; all in O(n).
#pragma once

#include <optional>
#include <vector>

#include "structmat/structmat.hpp"

namespace gaussian_process {

using structmat::index_t;
using structmat::quasiseparable::Kernel;

struct Series {
  std::vector<double> time, value;
};

struct Model {
  Kernel kernel;
  double noise;  ///< variance
  double mean;   ///< of the values, taken as known
};

/// log p(values), and its gradient with respect to the logarithms of the parameters of the kernel, in
/// their order, and of the noise.
struct LogLikelihood {
  double value;
  std::vector<double> gradient;
};

/// Unset when the covariance is not positive definite in double precision.
std::optional<double> log_likelihood(const Model& model, const Series& series);
std::optional<LogLikelihood> log_likelihood_and_gradient(const Model& model, const Series& series);

/// Of the process without its noise.
struct Prediction {
  std::vector<double> mean, variance;
};

/// At sorted times. The variance k(0) - k^T K^-1 k takes blocks of times as right-hand sides of a
/// triangular solve: O(n) for each time, with generators read once a block.
Prediction predict(const Model& model, const Series& series, const std::vector<double>& times);

}  // namespace gaussian_process
