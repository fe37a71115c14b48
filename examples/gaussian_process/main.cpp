/// \file
/// Gaussian-process regression on 43 years of weekly CO2 measurements at irregular times: the
/// parameters of the covariance are fitted on the years before 1999, the years after are predicted.
/// Likelihood, gradient and prediction take O(n); a dense Cholesky factorisation checks them.
///
/// usage: structmat_gaussian_process <co2.csv> <picture.svg>
/// Exit status: 0 if everything is as expected, 1 if not, 2 if it could not run.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>

#include "dense.hpp"
#include "minimise.hpp"
#include "model.hpp"
#include "plot/plot.hpp"
#include "structmat/io/csv.hpp"

namespace gaussian_process {
namespace {

bool all_ok = true;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("  FAILED: %s\n", what);
  all_ok = false;
}

template <class F>
double seconds(int repeats, const F& f) {
  double best = INFINITY;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

Series read_series(const std::filesystem::path& path) {
  structmat::io::Columns columns = structmat::io::read_columns(path);
  return {std::move(columns.values.at(0)), std::move(columns.values.at(1))};
}

Series part(const Series& all, std::size_t begin, std::size_t end) {
  const auto slice = [&](const std::vector<double>& v) {
    return std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(begin),
                               v.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return {slice(all.time), slice(all.value)};
}

/// A trend, a season of two harmonics whose shape drifts, the variations of years and those of weeks,
/// and noise.
Model first_guess(const Series& series) {
  const double mean = std::accumulate(series.value.begin(), series.value.end(), 0.0) /
                      static_cast<double>(series.value.size());
  return {structmat::quasiseparable::parse_kernel(
              "matern52:scale=30,variance=900"
              " + exponential:scale=100 * cosine:period=1,variance=9"
              " + exponential:scale=100 * cosine:period=0.5,variance=1"
              " + matern32:scale=1,variance=0.3"
              " + matern32:scale=0.02,variance=0.1"),
          0.1, mean};
}

/// The damping of a season has no variance of its own, and the length of the year is known.
bool is_free(const std::string& name) {
  return name != "exponential.variance" && name != "cosine.period";
}

/// Parameters of the model as the logarithms of those that are free.
class Coordinates {
 public:
  explicit Coordinates(Model start) : model_(std::move(start)) {
    const auto names = parameter_names(model_.kernel);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (is_free(names[i])) free_.push_back(i);
    }
    free_.push_back(names.size());  // the noise
  }

  std::vector<double> start() const {
    std::vector<double> values = parameters(model_.kernel), x;
    values.push_back(model_.noise);
    for (const std::size_t i : free_) x.push_back(std::log(values[i]));
    return x;
  }

  Model model(const std::vector<double>& x) const {
    std::vector<double> values = parameters(model_.kernel);
    values.push_back(model_.noise);
    for (std::size_t k = 0; k < x.size(); ++k) values[free_[k]] = std::exp(x[k]);
    const double noise = values.back();
    values.pop_back();
    return {with_parameters(model_.kernel, values), noise, model_.mean};
  }

  /// Minus the log-likelihood.
  Function objective(const Series& series) const {
    return [this, &series](const std::vector<double>& x) -> std::optional<Value> {
      const auto likelihood = log_likelihood_and_gradient(model(x), series);
      if (!likelihood) return std::nullopt;
      Value value{-likelihood->value, {}};
      for (const std::size_t i : free_) value.gradient.push_back(-likelihood->gradient[i]);
      return value;
    };
  }

 private:
  Model model_;
  std::vector<std::size_t> free_;
};

void print_model(const Model& model) {
  std::printf("kernel of order %lld:\n", static_cast<long long>(model.kernel.order()));
  const std::vector<std::string> names = parameter_names(model.kernel);
  const std::vector<double> values = parameters(model.kernel);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::printf("  %-22s %.4g%s\n", names[i].c_str(), values[i],
                is_free(names[i]) ? "" : " (fixed)");
  }
  std::printf("  %-22s %.4g\n", "noise", model.noise);
}

void check_gradient(const Coordinates& coordinates, const Series& series) {
  const std::vector<double> x = coordinates.start();
  const auto value = coordinates.objective(series)(x);
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    constexpr double h = 1e-4;
    std::vector<double> up = x, down = x;
    up[k] += h;
    down[k] -= h;
    const double difference = (*log_likelihood(coordinates.model(down), series) -
                               *log_likelihood(coordinates.model(up), series)) /
                              (2 * h);
    worst = std::max(
        worst, std::abs(difference - value->gradient[k]) / (1 + std::abs(value->gradient[k])));
  }
  std::printf("gradient against central differences: %.1e\n", worst);
  expect(worst < 1e-5, "the gradient is that of the log-likelihood");
}

void compare_with_dense(const Model& model, const Series& series,
                        const std::vector<double>& times) {
  const Series some = part(series, series.time.size() - 2000, series.time.size());
  double fast = 0, dense = 0;
  const double fast_time = seconds(5, [&] { fast = *log_likelihood(model, some); });
  const double gradient_time =
      seconds(3, [&] { static_cast<void>(log_likelihood_and_gradient(model, some)); });
  const std::vector<double> covariance = dense_covariance(model, some);
  const double fill_time = seconds(1, [&] { static_cast<void>(dense_covariance(model, some)); });
  const double dense_time =
      seconds(2, [&] { dense = dense_log_likelihood(covariance, model, some); });
  std::printf("n = 2000: log-likelihood %.9f, dense Cholesky %.9f\n", fast, dense);
  std::printf(
      "  %.2f ms, with gradient %.2f ms; dense %.0f ms for the value alone, %.0f times that\n",
      1e3 * fast_time, 1e3 * gradient_time, 1e3 * dense_time, dense_time / fast_time);
  std::printf("  (and %.0f ms to fill the matrix)\n", 1e3 * fill_time);
  expect(std::abs(fast - dense) < 1e-6 * std::abs(dense), "both log-likelihoods agree");

  const Prediction ours = predict(model, some, times), theirs = dense_predict(model, some, times);
  double mean = 0, variance = 0;
  for (std::size_t k = 0; k < times.size(); ++k) {
    mean = std::max(mean, std::abs(ours.mean[k] - theirs.mean[k]));
    variance = std::max(variance, std::abs(ours.variance[k] - theirs.variance[k]));
  }
  std::printf("  prediction differs by %.1e ppm, its variance by %.1e ppm^2\n", mean, variance);
  expect(mean < 1e-6 && variance < 1e-6, "both predictions agree");
}

/// How many of the measurements that were not used lie in the band of 95 %.
void check_coverage(const Model& model, const Series& seen, const Series& unseen) {
  const Prediction p = predict(model, seen, unseen.time);
  std::size_t inside = 0;
  double squares = 0;
  for (std::size_t k = 0; k < unseen.time.size(); ++k) {
    const double error = unseen.value[k] - p.mean[k];
    inside += std::abs(error) <= 1.96 * std::sqrt(p.variance[k] + model.noise) ? 1 : 0;
    squares += error * error;
  }
  const auto count = static_cast<double>(unseen.time.size());
  const double share = static_cast<double>(inside) / count, rms = std::sqrt(squares / count);
  std::printf("%zu weeks from 1999 on: %.0f %% in the 95 %% band, rms error %.2f ppm\n",
              unseen.time.size(), 100 * share, rms);
  expect(share > 0.8, "the error band covers what was not seen");
  expect(rms < 2, "the prediction is close to what was not seen");
}

int run(const std::filesystem::path& data, const std::filesystem::path& picture) {
  const Series all = read_series(data);
  const auto split = static_cast<std::size_t>(
      std::lower_bound(all.time.begin(), all.time.end(), 1999.0) - all.time.begin());
  const Series seen = part(all, 0, split), unseen = part(all, split, all.time.size());

  const Coordinates coordinates(first_guess(seen));
  check_gradient(coordinates, seen);
  Minimum fit;
  const double time = seconds(
      1, [&] { fit = minimise(coordinates.objective(seen), coordinates.start(), 0.05, 200); });
  const Model model = coordinates.model(fit.x);
  std::printf(
      "fit of %zu parameters to %zu weeks: %d steps, %d evaluations, %.2f s (%.1f ms each)\n",
      fit.x.size(), seen.time.size(), fit.steps, fit.evaluations, time,
      1e3 * time / fit.evaluations);
  std::printf("log-likelihood %.3f, at the start %.3f\n", -fit.value,
              *log_likelihood(coordinates.model(coordinates.start()), seen));
  print_model(model);
  expect(fit.converged, "the fit converged");

  check_coverage(model, seen, unseen);
  std::vector<double> grid;
  for (double t = 1995; t <= 2005; t += 1.0 / 48) grid.push_back(t);
  compare_with_dense(model, seen, grid);

  const Prediction p = predict(model, seen, grid);
  plot::Curve curve{grid, p.mean};
  for (const double v : p.variance) curve.half_width.push_back(1.96 * std::sqrt(v + model.noise));
  plot::write_svg(picture,
                  {"Atmospheric CO2 at Mauna Loa, ppm: fitted until 1999, predicted from there, "
                   "with the band of 95 %",
                   {curve},
                   {{seen.time, seen.value}, {unseen.time, unseen.value, "#d94801"}},
                   grid.front(),
                   grid.back()});
  std::printf("picture: %s\n%s\n", picture.string().c_str(),
              all_ok ? "All as expected." : "Not as expected.");
  return all_ok ? 0 : 1;
}

}  // namespace
}  // namespace gaussian_process

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: structmat_gaussian_process <co2.csv> <picture.svg>\n");
    return 2;
  }
  try {
    return gaussian_process::run(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "structmat_gaussian_process: %s\n", e.what());
    return 2;
  }
}
