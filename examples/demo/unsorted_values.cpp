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
// order of time: those of the rows and those of the columns of a block interleave. Among the
// columns only those whose values lie between the same two neighbours of the rows depend on each
// other (two of them span the rest), so ranks are about two thirds of what they could be, n/3, for
// every n.
Problem unsorted_values(const Series& co2) {
  // Ranks of all blocks without structure cost O(n^4): every eighth week (n = 279) takes seconds,
  // every week would take 10 000 times as long and show the same.
  constexpr index_t step = 10;
  const std::vector<double> value = detrended(co2);

  Problem problem;
  problem.name = "unsorted";
  problem.title = "Exponential kernel between detrended CO2 values, in order of time";
  problem.because = "the values are not sorted: no block separates them, the order is about n/3";
  problem.matrix = kernel(value, step);
  const index_t n = problem.matrix.extent(0);
  problem.least = {n / 4, n / 4};
  problem.most = {n / 2, n / 2};

  std::string growth = "the order grows with n:";
  for (const index_t coarser : {4 * step, 2 * step}) {
    const Array<double, 2> m = kernel(value, coarser);
    const index_t order = structmat::verify::quasiseparable(m).order.lower;
    growth += " " + std::to_string(order) + " at n = " + std::to_string(m.extent(0)) + ",";
    problem.ok = problem.ok && order >= m.extent(0) / 4;
  }
  growth.back() = ' ';
  problem.notes.push_back(growth + "and as above at n = " + std::to_string(n));
  return problem;
}

}  // namespace demo
