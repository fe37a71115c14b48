#include <cmath>
#include <numeric>

#include "problem.hpp"

namespace demo {

namespace {

/// Values minus their straight line of least squares.
std::vector<double> detrended(const Series& series) {
  const auto n = static_cast<double>(series.time.size());
  const double t_mean = std::accumulate(series.time.begin(), series.time.end(), 0.0) / n;
  const double v_mean = std::accumulate(series.value.begin(), series.value.end(), 0.0) / n;
  double tt = 0, tv = 0;
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    tt += (series.time[i] - t_mean) * (series.time[i] - t_mean);
    tv += (series.time[i] - t_mean) * (series.value[i] - v_mean);
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    result.push_back(series.value[i] - v_mean - tv / tt * (series.time[i] - t_mean));
  }
  return result;
}

/// exp(-|v_i - v_j| / 1 ppm) between every `step`-th value.
Array<double, 2> kernel(const std::vector<double>& value, index_t step) {
  const auto n = (static_cast<index_t>(value.size()) + step - 1) / step;
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      m(i, j) = std::exp(-std::abs(value[i * step] - value[j * step]));
    }
  }
  return m;
}

}  // namespace

// Between sorted points this kernel has order 1. Here the points are values of a seasonal series in
// order of time: each block mixes near and far pairs, the kink at |v_i - v_j| = 0 runs through all
// of them.
Problem unsorted_values(const Series& co2) {
  // Ranks of blocks that have no structure cost O(n^4) in all: every fourth week (n = 557) takes
  // seconds, every week would take 256 times as long, and show the same.
  constexpr index_t step = 4;
  const std::vector<double> value = detrended(co2);

  Problem problem;
  problem.name = "unsorted";
  problem.title = "Exponential kernel between detrended CO2 values, in order of time";
  problem.because = "the values are not sorted, so that no block separates them: full rank";
  problem.matrix = kernel(value, step);
  const index_t n = problem.matrix.extent(0);
  problem.least = {n / 4, n / 4};
  problem.most = {n / 2, n / 2};

  std::string growth = "order grows with n:";
  for (const index_t coarser : {4 * step, 2 * step}) {
    const Array<double, 2> m = kernel(value, coarser);
    const structmat::verify::Report report = structmat::verify::quasiseparable(m);
    growth +=
        " " + std::to_string(report.order.lower) + " at n = " + std::to_string(m.extent(0)) + ",";
    problem.ok = problem.ok && report.order.lower >= m.extent(0) / 4;
  }
  growth += " see above for n = " + std::to_string(n);
  problem.notes.push_back(growth);
  return problem;
}

}  // namespace demo
