/// \file
/// What GPU benchmarks share: times by events, rows, the table and its JSON form. A benchmark is
///   int main(int argc, char** argv) {
///     return structmat::bench::run(argc, argv, "title", [](Context& c, std::vector<Row>& rows) {...});
///   }
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/exec.hpp"

namespace structmat::bench {

struct Row {
  std::string name;
  double ours_ms = 0;
  std::string peer{};                 ///< empty: none
  std::optional<double> peer_ms{};    ///< in the same run
  std::optional<double> floor_ms{};   ///< from counted bytes or flops and measured ceilings
  std::optional<double> target_ms{};  ///< what it is to reach
  std::optional<double> error{};      ///< against a reference in higher precision
};

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  cudaStream_t stream() const { return stream_; }

  /// Bytes a millisecond of a copy kernel, read and written together.
  double copy_rate() const { return copy_rate_; }

  /// How many sets of operands of so many bytes to go round, so that none is still in L2 when its
  /// turn comes again.
  int sets_for(double bytes) const {
    return static_cast<int>(std::clamp(3 * l2_bytes_ / std::max(bytes, 1.0), 0.0, 63.0)) + 1;
  }

  /// Milliseconds of one call: `calls` of them, enqueued by enqueue(i) on stream(), are captured in a
  /// graph; the median over its replays is divided by `calls`.
  double time_graph(int calls, const std::function<void(int)>& enqueue) const;

  /// The same for calls that allocate or synchronise and so cannot be captured: the median of
  /// `samples` single calls, after one that warms up.
  double time_calls(const std::function<void()>& call, int samples = 10) const;

 private:
  cudaStream_t stream_ = nullptr;
  double l2_bytes_ = 0, copy_rate_ = 0;
};

/// Fills rows, prints them as a table and, with --json FILE, writes them. Rows that were filled before
/// an exception are not lost. Returns the exit status: 77 without a device, 1 after an exception or an
/// error that is not a finite number.
int run(int argc, char** argv, const char* title,
        const std::function<void(Context&, std::vector<Row>&)>& fill);

/// Uniform in (-1/2, 1/2), the same for equal seeds; never zeros, which can be faster.
template <class T, int Rank>
Array<T, Rank, space::cuda> random(const std::array<index_t, Rank>& extents, unsigned seed);

}  // namespace structmat::bench
