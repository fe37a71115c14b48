// Gaussian-process regression on a regular grid, in O(n log^2 n): the log-likelihood of 50,000 values,
// its gradient against central differences, and a prediction between the points.
#include <cmath>
#include <cstdio>
#include <random>
#include <structmat/structmat.hpp>
#include <structmat/toeplitz/log_likelihood.hpp>
#include <structmat/toeplitz/plan.hpp>
#include <vector>
using namespace structmat;

int main() {
  // A process with covariance variance exp(-|t| / length), seen at whole times with white noise.
  const index_t n = 50000;
  const double variance = 2, length = 30, noise = 0.1, decay = std::exp(-0.5 / length), h = 1e-3;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> y(n), between(n - 1), value(1);
  double state = std::sqrt(variance) * normal(random);
  for (index_t i = 0; i < 2 * n - 1; ++i) {  // half steps: observed, hidden, observed, ...
    state = decay * state + std::sqrt(variance * (1 - decay * decay)) * normal(random);
    (i % 2 == 0 ? y : between)[i / 2] =
        state + (i % 2 == 0 ? std::sqrt(noise) * normal(random) : 0);
  }
  const auto kernel = [&](double t, double l) { return variance * std::exp(-std::abs(t) / l); };
  const auto covariance = [&](double l) {
    Array<double, 2> column({1, n});
    for (index_t i = 0; i < n; ++i) column(0, i) = kernel(double(i), l) + (i == 0 ? noise : 0);
    return column;
  };
  // The derivative with respect to the length: the gradient of the lags, and the chain rule.
  const Array<double, 2> column = covariance(length);
  const View<const double, 2> observed(y.data(), {1, n});
  Array<double, 2> bar({1, n});
  toeplitz::log_likelihood_vjp<double>(exec::cpu{}, column, observed, value, std::vector{1.0}, bar,
                                       {});
  double slope = 0, ends[2] = {0, 0}, squares = 0, expected = variance;
  for (index_t i = 0; i < n; ++i)
    slope += bar(0, i) * kernel(double(i), length) * double(i) / (length * length);
  for (const int side : {0, 1})
    toeplitz::log_likelihood<double>(exec::cpu{}, covariance(length + (side == 0 ? -h : h)),
                                     observed, View<double, 1>(&ends[side], {1}));
  const double difference = (ends[1] - ends[0]) / (2 * h);
  // The means half way between the points, and the variance of one of them.
  const toeplitz::HermitianInverse<double> inverse(column);
  Toeplitz<double> cross(n - 1, n);  // rows at i + 1/2, columns at j
  for (index_t l = 1 - n; l < n - 1; ++l)
    cross.lags(0, l + n - 1) = kernel(double(l) + 0.5, length);
  const auto mean = cross * (inverse * y);
  for (index_t i = 0; i + 1 < n; ++i) squares += std::pow(mean(i) - between[i], 2) / double(n - 1);
  std::vector<double> k(n);
  for (index_t j = 0; j < n; ++j) k[j] = cross.entry(n / 2, j);
  const auto weights = inverse * k;
  for (index_t j = 0; j < n; ++j) expected -= k[j] * weights(j);
  std::printf("log-likelihood %.4f, slope %.6f, by differences %.6f, ", value[0], slope,
              difference);
  std::printf("mean square error %.5f, expected %.5f\n", squares, expected);
  return std::abs(slope / difference - 1) < 1e-5 && std::abs(squares / expected - 1) < 0.05 ? 0 : 1;
}
