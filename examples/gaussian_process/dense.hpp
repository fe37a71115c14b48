/// \file
/// The same by dense Cholesky factorisation, in O(n^3): what the O(n) results are compared with.
#pragma once

#include "model.hpp"

namespace gaussian_process {

/// n x n, column-major; the lower triangle is filled.
std::vector<double> dense_covariance(const Model& model, const Series& series);
/// From that covariance.
double dense_log_likelihood(std::vector<double> covariance, const Model& model,
                            const Series& series);
Prediction dense_predict(const Model& model, const Series& series,
                         const std::vector<double>& times);

}  // namespace gaussian_process
