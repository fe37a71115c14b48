// Gaussian-process regression in O(n): a sample, its log-likelihood, and the prediction between its
// times, compared with the dense formulas. The real series is in gaussian_process/.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <structmat/structmat.hpp>
#include <vector>

using namespace structmat;
namespace qs = structmat::quasiseparable;

int main() {
  // Irregular times, a slow trend plus a damped oscillation of order 2, and white noise.
  const index_t n = 300;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> t(n), white(n), y(n), alpha(n);
  for (index_t i = 0; i < n; ++i) {
    t[i] = (i > 0 ? t[i - 1] : 0) + 0.01 + 0.1 * std::abs(normal(random));
    white[i] = normal(random);
  }
  const qs::Kernel kernel = qs::parse_kernel("matern52:scale=10 + sho:w0=6,Q=8,variance=0.5");
  const double noise = 0.01;
  const auto m = qs::from_kernel(t, kernel, noise);
  const auto factor = qs::factor_ldl(m);
  if (!factor.ok()) return 1;
  qs::apply_lower(exec::cpu{}, factor, white, y);  // y = L d^(1/2) white has the covariance m
  qs::solve(exec::cpu{}, factor, y, alpha);

  // The mean between the times, from the covariance of new times with the old ones.
  std::vector<double> s(n - 1), mean(n - 1);
  for (index_t i = 0; i + 1 < n; ++i) s[i] = 0.5 * (t[i] + t[i + 1]);
  qs::cross_covariance(s, t, kernel).apply(alpha, mean);

  // log p(y) = -(y^T m^-1 y + log det m + n log 2 pi) / 2, where y^T m^-1 y = |white|^2 by construction.
  const double log_det = qs::log_determinant(factor).log_abs;
  double fit = 0, exact_fit = 0, worst = 0, residual = 0;
  const Array<double, 1> back = m * alpha;
  for (index_t i = 0; i < n; ++i) {
    fit += y[i] * alpha[i];
    exact_fit += white[i] * white[i];
    residual = std::max(residual, std::abs(back(i) - y[i]));
    double sum = 0;  // row i of the dense cross-covariance
    for (index_t j = 0; i + 1 < n && j < n; ++j) sum += evaluate(kernel, s[i] - t[j]) * alpha[j];
    if (i + 1 < n) worst = std::max(worst, std::abs(sum - mean[i]));
  }
  const double log_two_pi = std::log(2 * std::numbers::pi);
  std::printf("order %lld, log-likelihood %.6f (by construction %.6f)\n",
              static_cast<long long>(kernel.order()),
              -0.5 * (fit + log_det + double(n) * log_two_pi),
              -0.5 * (exact_fit + log_det + double(n) * log_two_pi));
  std::printf("residual %.1e, prediction against the dense sum %.1e\n", residual, worst);
  return std::abs(fit - exact_fit) < 1e-9 * exact_fit && residual < 1e-10 && worst < 1e-9 ? 0 : 1;
}
