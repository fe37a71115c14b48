/// \file
/// The same by dense Cholesky factorisation, in O(n^3): what the O(n) results are compared with.
#pragma once

#include "model.hpp"

namespace gaussian_process {

double dense_log_likelihood(const Model& model, const Series& series);
Prediction dense_predict(const Model& model, const Series& series,
                         const std::vector<double>& times);

}  // namespace gaussian_process
