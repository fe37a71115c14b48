/// \file
/// The results of bench as Markdown, CSV or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "structmat/core/scalar.hpp"

namespace structmat::cli {

/// One line. Times are medians.
struct BenchRow {
  index_t n = 0, order = 0, rhs = 0;
  double ms = 0;
  double fastest_ms = 0;
  int repetitions = 0;
  double gb_per_s = 0;       ///< generators, x and y once each, over the time
  double copy_fraction = 0;  ///< of the bandwidth of a copy
  /// Where the dense matrix was within its limit.
  std::optional<double> dense_ms{}, dense_fastest_ms{};
  std::optional<double> error{};  ///< ||y - y_dense||_F / ||y_dense||_F
};

/// Is a median more than twice the fastest run? Then something else ran on the processors, and
/// neither time nor ratio means anything.
bool is_unsteady(const BenchRow& row);

struct BenchTable {
  std::string family, op, transition, dtype, backend;
  std::string machine;  ///< library, BLAS, core, threads
  double copy_gb_per_s = 0, dense_limit_gb = 0;
  std::vector<BenchRow> rows{};
};

/// format: "md", "csv" or "json".
std::string format_table(const BenchTable& table, const std::string& format);

}  // namespace structmat::cli
