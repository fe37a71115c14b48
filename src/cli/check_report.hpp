/// \file
/// What check says about a matrix.
#pragma once

#include <optional>
#include <string>

#include "structmat/verify/rank_profile.hpp"

namespace structmat::cli {

/// What from_dense would store at the tolerance of the check.
struct Compression {
  index_t stored = 0;  ///< numbers
  Order order{};
  double error = 0;  ///< relative to ||M||_F
};

struct CheckResult {
  std::string file, description{};
  std::string method{};  ///< what was done with generators
  verify::Report report{};
  std::optional<Compression> compression{};  ///< unless the sweep ended early
};

void print_text(const CheckResult& result);
void print_json(const CheckResult& result);

}  // namespace structmat::cli
