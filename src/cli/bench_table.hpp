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
  std::string backend = "cpu";
  index_t n = 0, order = 0, rhs = 0;
  double ms = 0;
  double fastest_ms = 0;
  int repetitions = 0;
  double gb_per_s = 0;                    ///< generators, x and y once each, over the time
  std::optional<double> copy_fraction{};  ///< of the bandwidth of a copy there
  /// Where the dense matrix was within its limit.
  std::optional<double> dense_ms{}, dense_fastest_ms{};
  /// ||y - z||_F / ||z||_F with z of the dense product; on a device, of the structured one on the
  /// CPU.
  std::optional<double> error{};
};

/// Is a median more than twice the fastest run? Then something else ran on the processors, and
/// neither time nor ratio means anything.
bool is_unsteady(const BenchRow& row);

struct BenchTable {
  std::string family, op, transition, dtype;  ///< transition: empty where there is none
  std::string machine;                        ///< library, BLAS, core, threads
  double copy_gb_per_s = 0, dense_limit_gb = 0;
  std::optional<double> device_copy_gb_per_s{};
  std::vector<BenchRow> rows{};
};

/// format: "md", "csv" or "json".
std::string format_table(const BenchTable& table, const std::string& format);

}  // namespace structmat::cli
