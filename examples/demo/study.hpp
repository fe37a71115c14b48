/// \file
/// What the demo does with each matrix.
#pragma once

#include <filesystem>

#include "problem.hpp"

namespace demo {

/// The results that go into the closing table.
struct Outcome {
  std::string name;
  index_t size = 0, stored = 0;
  Order order;
  double error = 0;  ///< |y - y_dense| / (|M|_F |x|)
  /// Of one matvec: medians, on one thread or on all, whichever is faster.
  double structured_seconds = 0, dense_seconds = 0;
  bool pays = false;  ///< smaller than half of n^2 and faster
  bool ok = false;

  double speedup() const { return dense_seconds / structured_seconds; }
};

/// Checks the ranks, compresses, compares matvecs, draws <folder>/<name>.svg; prints each result.
Outcome study(const Problem& problem, const std::filesystem::path& folder);

}  // namespace demo
