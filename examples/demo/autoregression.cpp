#include <cmath>
#include <cstdio>
#include <numeric>

#include "problem.hpp"

namespace demo {

namespace {

/// Sample autocovariances of lags 0 to p. Dividing by the length, not by the number of terms, makes
/// their Toeplitz matrix positive definite and the fitted process stationary.
std::vector<double> autocovariance(const std::vector<double>& x, index_t p) {
  const auto n = static_cast<index_t>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(n);
  std::vector<double> c(p + 1);
  for (index_t lag = 0; lag <= p; ++lag) {
    for (index_t i = lag; i < n; ++i) c[lag] += (x[i] - mean) * (x[i - lag] - mean);
    c[lag] /= static_cast<double>(n);
  }
  return c;
}

/// Coefficients of x_t = f_1 x_{t-1} + ... + f_p x_{t-p} + noise from the Yule-Walker equations, by
/// the recursion of Levinson and Durbin.
std::vector<double> yule_walker(const std::vector<double>& c) {
  std::vector<double> f;
  double variance = c[0];
  for (std::size_t order = 1; order < c.size(); ++order) {
    double reflection = c[order];
    for (std::size_t i = 0; i < f.size(); ++i) reflection -= f[i] * c[order - 1 - i];
    reflection /= variance;
    const std::vector<double> previous = f;
    for (std::size_t i = 0; i < f.size(); ++i) f[i] -= reflection * previous[f.size() - 1 - i];
    f.push_back(reflection);
    variance *= 1 - reflection * reflection;
  }
  return f;
}

}  // namespace

Problem autoregression(const Series& sunspots) {
  constexpr index_t p =
      9;  // the usual choice for the yearly numbers: a solar cycle is about 11 years
  constexpr index_t n = 2048;  // years

  std::vector<double> c = autocovariance(sunspots.value, p);
  const std::vector<double> f = yule_walker(c);
  const double variance = c[0];
  for (double& x : c) x /= variance;
  while (static_cast<index_t>(c.size()) < n) {
    double next = 0;
    for (index_t i = 0; i < p; ++i) next += f[i] * c[c.size() - 1 - i];
    c.push_back(next);
  }

  Problem problem;
  problem.name = "autoregression";
  problem.title =
      "Covariance of an AR(" + std::to_string(p) + ") process fitted to the sunspot numbers";
  problem.because = "beyond the last p values, the past says nothing about the future";
  problem.least = problem.most = {p, p};
  problem.matrix = Array<double, 2>({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) problem.matrix(i, j) = c[std::abs(i - j)];
  }
  return problem;
}

}  // namespace demo
