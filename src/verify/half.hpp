/// \file
/// What checks of dense matrices and of generators have in common: one half of a report, and how
/// two of them make a whole.
#pragma once

#include <limits>
#include <string>

#include "structmat/verify/rank_profile.hpp"

namespace structmat::verify {

/// Lower or upper part of a report.
struct Half {
  Part part = Part::lower;
  std::vector<index_t> ranks{};
  index_t order = 0;
  double smallest_kept = std::numeric_limits<double>::infinity(), largest_dropped = 0;
  /// The largest singular value beyond the order asked for.
  double excess = 0;
  std::optional<Block> worst{};
  std::vector<Block> blocks{};  ///< those that the options ask for
  index_t worst_shorter = 0;    ///< rows or columns of the worst block, whichever are fewer

  /// Is a block of this rank and size a better certificate? With an order asked for it is the block
  /// with the most beyond it; else that of largest rank, and of several the one nearest to a
  /// square.
  bool is_worse(std::optional<index_t> asked, double beyond, index_t rank, index_t shorter) const {
    if (!worst) return true;
    return asked ? beyond > excess : rank > order || (rank == order && shorter > worst_shorter);
  }

  /// The place of block M(k:n, 0:columns) of this half.
  Block place(index_t n, index_t k, index_t columns) const {
    return part == Part::lower ? Block{part, k, n, 0, columns, {}}
                               : Block{part, 0, columns, k, n, {}};
  }
};

inline void require_tolerance(const std::string& operation, double tolerance) {
  if (!(tolerance >= 0)) {
    throw DomainError(operation + ": the tolerance is " + std::to_string(tolerance) +
                      ", it must be at least 0");
  }
}

inline void require_tolerance_and_order(const std::string& operation, double tolerance,
                                        const std::optional<Order>& order) {
  require_tolerance(operation, tolerance);
  if (order && (order->lower < 0 || order->upper < 0)) {
    throw DomainError(operation + ": the order asked for is (" + std::to_string(order->lower) +
                      ", " + std::to_string(order->upper) + "), it must not be negative");
  }
}

inline Report whole(const Half& lower, const Half& upper, const Options& options) {
  Report report;
  report.asked = options.order;
  report.relative = options.relative;
  report.lower = lower.ranks;
  report.upper = upper.ranks;
  report.order = {lower.order, upper.order};
  report.blocks = lower.blocks;
  report.blocks.insert(report.blocks.end(), upper.blocks.begin(), upper.blocks.end());
  const double kept = std::min(lower.smallest_kept, upper.smallest_kept);
  report.smallest_kept = std::isfinite(kept) ? kept : 0;
  report.largest_dropped = std::max(lower.largest_dropped, upper.largest_dropped);
  if (options.order) {
    report.holds =
        report.order.lower <= options.order->lower && report.order.upper <= options.order->upper;
  }
  const bool upper_is_worse =
      options.order ? upper.excess > lower.excess : upper.order > lower.order;
  report.worst_block = (upper_is_worse && upper.worst) || !lower.worst ? upper.worst : lower.worst;
  return report;
}

}  // namespace structmat::verify
