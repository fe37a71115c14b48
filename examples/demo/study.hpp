/// \file
/// What the demo does with each matrix.
#pragma once

#include <filesystem>

#include "problem.hpp"

namespace demo {

/// Seconds.
struct Times {
  double median = 0, best = 0;
};

/// The results that go into the closing table.
struct Outcome {
  std::string name;
  index_t size = 0, stored = 0;
  Order order;
  double error = 0;         ///< |y - y_dense| / (|M|_F |x|)
  Times structured, dense;  ///< of one matvec
  bool pays = false;        ///< smaller than half of n^2 and faster
  bool ok = false;
};

/// Checks the ranks, compresses, compares matvecs, draws <folder>/<name>.svg; prints each result.
Outcome study(const Problem& problem, const std::filesystem::path& folder);

}  // namespace demo
