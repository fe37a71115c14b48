#include "model.hpp"

#include <algorithm>

namespace gaussian_process {
namespace qs = structmat::quasiseparable;
using structmat::Array;
using structmat::Quasiseparable;
using structmat::View;
using structmat::transition::Dense;

namespace {

constexpr structmat::exec::cpu cpu{};

std::vector<double> residual(const Model& model, const Series& series) {
  std::vector<double> y = series.value;
  for (double& v : y) v -= model.mean;
  return y;
}

}  // namespace

std::optional<double> log_likelihood(const Model& model, const Series& series) {
  const auto m = qs::from_kernel(series.time, model.kernel, model.noise);
  const std::vector<double> y = residual(model, series);
  const auto result = qs::log_likelihood(m, View<const double, 1>(y));
  return result.status.ok() ? std::optional(result.value) : std::nullopt;
}

std::optional<LogLikelihood> log_likelihood_and_gradient(const Model& model, const Series& series) {
  const auto n = static_cast<index_t>(series.time.size());
  const auto m = qs::from_kernel(series.time, model.kernel, model.noise);
  const std::vector<double> y = residual(model, series);
  std::vector<double> values = parameters(model.kernel);
  LogLikelihood result{0, std::vector<double>(values.size() + 1)};

  // From log p back to the lower generators, and from these to the parameters.
  Quasiseparable<double, Dense> bar(n, m.order());
  structmat::QuasiseparableCotangent<double, Dense> lower;
  lower.p = bar.p;
  lower.q = bar.q;
  lower.a = bar.a;
  lower.d = bar.d;
  const double one = 1;
  const auto status = qs::log_likelihood_vjp(cpu, m.view(), View<const double, 2>(y.data(), {1, n}),
                                             View<double, 1>(&result.value, {1}),
                                             View<const double, 1>(&one, {1}), lower, {});
  if (!status.ok()) return std::nullopt;
  const View<double, 1> gradient(result.gradient);
  const index_t count = gradient.extent(0) - 1;
  qs::from_kernel_vjp(series.time, model.kernel, lower, gradient.slice(0, 0, count),
                      gradient.slice(0, count, count + 1));

  values.push_back(model.noise);
  for (index_t i = 0; i <= count; ++i) gradient(i) *= values[i];  // with respect to logarithms
  return result;
}

Prediction predict(const Model& model, const Series& series, const std::vector<double>& times) {
  const auto factor = qs::factor_ldl(qs::from_kernel(series.time, model.kernel, model.noise));
  const auto n = static_cast<index_t>(series.time.size());
  const auto count = static_cast<index_t>(times.size());
  std::vector<double> alpha = residual(model, series);
  qs::solve(cpu, factor, alpha, alpha);

  Prediction prediction{std::vector<double>(count, 0.0),
                        std::vector<double>(count, evaluate(model.kernel, 0))};
  qs::cross_covariance(times, series.time, model.kernel).apply(alpha, prediction.mean);
  for (double& v : prediction.mean) v += model.mean;

  constexpr index_t block = 64;
  for (index_t begin = 0; begin < count; begin += block) {
    const index_t columns = std::min(block, count - begin);
    const auto cross = qs::cross_covariance(
        series.time, View<const double, 1>(times).slice(0, begin, begin + columns), model.kernel);
    Array<double, 2> identity({columns, columns});
    for (index_t c = 0; c < columns; ++c) identity(c, c) = 1;
    Array<double, 2> z = cross * identity;  // columns of K_ts
    qs::solve_lower(cpu, factor, z, z);
    for (index_t i = 0; i < n; ++i) {
      for (index_t c = 0; c < columns; ++c) {
        prediction.variance[begin + c] -= z(i, c) * z(i, c) / factor.d(0, i);
      }
    }
  }
  return prediction;
}

}  // namespace gaussian_process
