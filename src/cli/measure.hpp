/// \file
/// Timing for bench.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace structmat::cli {

struct Timing {
  double seconds = 0;  ///< median
  double fastest = 0;
  int repetitions = 0;
};

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median time of action(), after one call to warm up: at least 5 calls, and calls until
/// `least` seconds have gone or 1000 are done.
template <class Action>
Timing measure(const Action& action, double least = 0.2) {
  constexpr std::size_t fewest = 5, most = 1000;
  action();
  std::vector<double> times;
  const auto begin = std::chrono::steady_clock::now();
  while (times.size() < fewest || (times.size() < most && seconds_since(begin) < least)) {
    const auto start = std::chrono::steady_clock::now();
    action();
    times.push_back(seconds_since(start));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return {*middle, *std::min_element(times.begin(), times.end()), static_cast<int>(times.size())};
}

/// Bytes read plus bytes written a second by memcpy of 128 MB, far beyond the caches, on `threads`
/// threads.
inline double copy_bandwidth(int threads) {
  constexpr std::size_t bytes = std::size_t{128} << 20;
  const auto from = std::make_unique<char[]>(bytes);
  const auto to = std::make_unique<char[]>(bytes);
  const std::size_t part = bytes / static_cast<std::size_t>(threads);
  const Timing timing = measure([&] {
    std::vector<std::jthread> team;
    for (int t = 0; t < threads; ++t) {
      const std::size_t begin = part * static_cast<std::size_t>(t);
      const std::size_t length = t + 1 == threads ? bytes - begin : part;
      team.emplace_back(
          [&, begin, length] { std::memcpy(to.get() + begin, from.get() + begin, length); });
    }
  });
  return 2.0 * double(bytes) / timing.seconds;
}

}  // namespace structmat::cli
