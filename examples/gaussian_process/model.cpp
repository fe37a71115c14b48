#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "structmat/quasiseparable/ldl_vjp.hpp"

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

/// log p from z = L^-1 y.
double value_of(const qs::Ldl<double, Dense>& factor, const std::vector<double>& z) {
  double sum = qs::log_determinant(factor).log_abs;
  for (index_t i = 0; i < factor.size(); ++i) sum += z[i] * z[i] / factor.d(0, i);
  return -0.5 * (sum + static_cast<double>(z.size()) * std::log(2 * std::numbers::pi));
}

}  // namespace

std::optional<double> log_likelihood(const Model& model, const Series& series) {
  const auto factor = qs::factor_ldl(qs::from_kernel(series.time, model.kernel, model.noise));
  if (!factor.ok()) return std::nullopt;
  std::vector<double> z = residual(model, series);
  qs::solve_lower(cpu, factor, z, z);
  return value_of(factor, z);
}

std::optional<LogLikelihood> log_likelihood_and_gradient(const Model& model, const Series& series) {
  const auto n = static_cast<index_t>(series.time.size());
  const auto m = qs::from_kernel(series.time, model.kernel, model.noise);
  const auto factor = qs::factor_ldl(m);
  if (!factor.ok()) return std::nullopt;
  const std::vector<double> y = residual(model, series);
  std::vector<double> z(n);
  qs::solve_lower(cpu, factor, y, z);

  // Backwards: from log p to z and the pivots, to the factor, to the matrix, to the parameters.
  std::vector<double> z_bar(n);
  Array<double, 2> d_bar({1, n});
  for (index_t i = 0; i < n; ++i) {
    const double d = factor.d(0, i);
    z_bar[i] = -z[i] / d;
    d_bar(0, i) = 0.5 * (z[i] * z[i] / d - 1) / d;
  }
  Quasiseparable<double, Dense> m_bar(n, m.order());
  Array<double, 3> w_bar(m.q.extents());
  qs::ldl_apply_vjp<double>(cpu, factor.view(), qs::LdlPart::solve_lower,
                            structmat::detail::input<double>(y),
                            structmat::detail::input<double>(z_bar),
                            qs::LdlCotangent<double, Dense>{m_bar.p, w_bar, m_bar.a, {}}, {});
  structmat::QuasiseparableCotangent<double, Dense> lower;
  lower.p = m_bar.p;
  lower.q = m_bar.q;
  lower.a = m_bar.a;
  lower.d = m_bar.d;
  qs::factor_ldl_vjp<double>(cpu, m.view(), factor.view(),
                             qs::LdlCotangent<double, Dense>{{}, w_bar, {}, d_bar}, lower);
  std::vector<double> values = parameters(model.kernel);
  std::vector<double> gradient(values.size()), noise_bar(1);
  qs::from_kernel_vjp(series.time, model.kernel, lower, gradient, noise_bar);

  values.push_back(model.noise);
  gradient.push_back(noise_bar[0]);
  for (std::size_t i = 0; i < values.size(); ++i) gradient[i] *= values[i];  // d / d log
  return LogLikelihood{value_of(factor, z), std::move(gradient)};
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
