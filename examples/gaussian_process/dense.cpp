#include "dense.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrsm_(const char* side, const char* uplo, const char* op, const char* diagonal, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b,
            const int* ldb);
}

namespace gaussian_process {
namespace {

/// The lower factor, column-major.
class Cholesky {
 public:
  Cholesky(std::vector<double> covariance, std::size_t n)
      : n_(static_cast<int>(n)), factor_(std::move(covariance)) {
    const char lower = 'L';
    int info = 0;
    dpotrf_(&lower, &n_, factor_.data(), &n_, &info);
    if (info != 0) throw std::runtime_error("dense Cholesky: pivot " + std::to_string(info));
  }

  /// b := L^-1 b for `columns` columns of n.
  void solve(std::vector<double>& b, int columns) const {
    const char left = 'L', lower = 'L', plain = 'N', general = 'N';
    const double one = 1;
    dtrsm_(&left, &lower, &plain, &general, &n_, &columns, &one, factor_.data(), &n_, b.data(),
           &n_);
  }

  double diagonal(int i) const { return factor_[static_cast<std::size_t>(i) * (n_ + 1)]; }

 private:
  int n_;
  std::vector<double> factor_;
};

std::vector<double> whitened(const Cholesky& factor, const Model& model, const Series& series) {
  std::vector<double> z = series.value;
  for (double& v : z) v -= model.mean;
  factor.solve(z, 1);
  return z;
}

}  // namespace

std::vector<double> dense_covariance(const Model& model, const Series& series) {
  const std::size_t n = series.time.size();
  std::vector<double> covariance(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      covariance[j * n + i] = evaluate(model.kernel, series.time[i] - series.time[j]);
    }
    covariance[j * n + j] += model.noise;
  }
  return covariance;
}

double dense_log_likelihood(std::vector<double> covariance, const Model& model,
                            const Series& series) {
  const Cholesky factor(std::move(covariance), series.time.size());
  const std::vector<double> z = whitened(factor, model, series);
  double sum = static_cast<double>(z.size()) * std::log(2 * std::numbers::pi);
  for (std::size_t i = 0; i < z.size(); ++i) {
    sum += z[i] * z[i] + 2 * std::log(factor.diagonal(static_cast<int>(i)));
  }
  return -0.5 * sum;
}

Prediction dense_predict(const Model& model, const Series& series,
                         const std::vector<double>& times) {
  const Cholesky factor(dense_covariance(model, series), series.time.size());
  const std::vector<double> z = whitened(factor, model, series);
  const std::size_t n = z.size();
  Prediction prediction{std::vector<double>(times.size(), model.mean),
                        std::vector<double>(times.size(), evaluate(model.kernel, 0))};
  std::vector<double> cross(n * times.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      cross[k * n + i] = evaluate(model.kernel, times[k] - series.time[i]);
    }
  }
  factor.solve(cross, static_cast<int>(times.size()));
  for (std::size_t k = 0; k < times.size(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      prediction.mean[k] += cross[k * n + i] * z[i];
      prediction.variance[k] -= cross[k * n + i] * cross[k * n + i];
    }
  }
  return prediction;
}

}  // namespace gaussian_process
