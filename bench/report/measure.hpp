/// \file
/// Timing of pieces of work that take turns, so that a change in the machine's load meets all of
/// them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::bench {

using Work = std::function<void()>;

inline double milliseconds(const Work& work, int calls = 1) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (int i = 0; i < calls; ++i) work();
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count() / calls;
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Median milliseconds of each piece of work. Each repetition runs all of them, one after the
/// other; short ones are called as often as it takes to fill `least` milliseconds.
inline std::vector<double> medians(int repetitions, const std::vector<Work>& works,
                                   double least = 2) {
  std::vector<int> calls;
  for (const Work& work : works) {
    work();  // first touch of caches, pages and code
    const double once = milliseconds(work);
    calls.push_back(static_cast<int>(std::clamp(std::ceil(least / once), 1.0, 1e6)));
  }
  std::vector<std::vector<double>> times(works.size());
  for (int i = 0; i < repetitions; ++i) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      times[w].push_back(milliseconds(works[w], calls[w]));
    }
  }
  std::vector<double> result;
  for (auto& t : times) result.push_back(median(t));
  return result;
}

/// Bytes read plus bytes written per second by memcpy between two arrays of `bytes` each.
class Copy {
 public:
  explicit Copy(index_t bytes) : from_({bytes}), to_({bytes}) {}
  Work work() {
    return [this] { std::memcpy(to_.data(), from_.data(), static_cast<std::size_t>(to_.size())); };
  }
  double bytes_per_second(double ms) const { return 2e3 * static_cast<double>(to_.size()) / ms; }

 private:
  Array<char, 1> from_, to_;
};

/// Bytes per second that one thread can read from an array far beyond the caches: what bounds work
/// that writes little, where a copy counts each byte twice.
inline double read_bandwidth() {
  const Array<double, 1> from({index_t{1} << 27});
  double sum = 0;
  // Sums that do not wait for each other, or the adder would be what is measured.
  constexpr index_t sums = 32;
  const Work work = [&] {
    double parts[sums] = {};
    for (index_t i = 0; i < from.size(); i += sums) {
      for (index_t l = 0; l < sums; ++l) parts[l] += from.data()[i + l];
    }
    for (const double part : parts) sum += part;
  };
  const double ms = medians(5, {work}).front();
  return sum == 0 ? 8e3 * static_cast<double>(from.size()) / ms : NAN;
}

}  // namespace structmat::bench
