/// \file
/// From the singular values of the blocks of one triangle to its half of a report, wherever they were
/// computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "quasiseparable/triangle_sweep.hpp"
#include "verify/half.hpp"

namespace structmat::verify {

struct BlockCounter {
  Half half{};
  index_t size = 0, extra = 0;
  double norm = 0, tolerance = 0;
  Relative relative = Relative::matrix;
  std::optional<index_t> asked{};
  std::vector<index_t> wanted{};  ///< in ascending order

  bool exceeded() const { return asked && half.order > *asked; }

  /// What the sweep may drop at a block of so many rows. Everything above an eighth of the threshold is
  /// carried, so that the total error moves no singular value by more than that; but nothing below
  /// rounding, which would fill the state with noise.
  template <Scalar T>
  quasiseparable::Truncation truncation(index_t rows) const {
    const bool by_row = relative == Relative::block;
    const double share = std::sqrt(0.5 * double(rows) / double(size));
    const double floor = 2 * double(epsilon<T>) * std::sqrt(double(by_row ? size : 1));
    return {std::max(tolerance / 8 * share, floor) * (by_row ? 1 : norm), INT64_MAX, by_row};
  }

  /// Takes in block k, whose singular values are given in descending order; returns its rank.
  index_t count(index_t k, const std::vector<double>& values) {
    const auto number = static_cast<index_t>(values.size());
    const double reference = relative == Relative::block && number > 0 ? values.front() : norm;
    index_t rank = 0;
    while (rank < number && values[rank] > tolerance * reference) ++rank;
    const auto ratio = [&](index_t l) {
      return l < number && reference > 0 ? values[l] / reference : 0.0;
    };
    if (rank > 0) half.smallest_kept = std::min(half.smallest_kept, ratio(rank - 1));
    half.largest_dropped = std::max(half.largest_dropped, ratio(rank));
    const index_t columns = k + extra, shorter = std::min(size - k, columns);
    const double beyond = asked ? ratio(*asked) : 0;
    const auto examined = [&] {
      Block b = half.place(size, k, columns);
      for (index_t l = 0; l < number; ++l) b.singular_values.push_back(ratio(l));
      return b;
    };
    if (half.is_worse(asked, beyond, rank, shorter)) {
      half.worst_shorter = shorter;
      half.worst = examined();
    }
    if (std::binary_search(wanted.begin(), wanted.end(), k)) half.blocks.push_back(examined());
    half.excess = std::max(half.excess, beyond);
    half.order = std::max(half.order, rank);
    return rank;
  }

  /// Do the ranks of blocks begin + first and begin + last settle those between? Removing a row and
  /// adding a column changes a rank by one at most, so ends that differ by their distance do. Only used
  /// where blocks are large. Fills them in if so.
  bool settled(std::vector<index_t>& ranks, index_t begin, index_t first, index_t last) const {
    constexpr index_t large = 64;
    const index_t change = ranks[last] - ranks[first];
    const auto next = std::lower_bound(wanted.begin(), wanted.end(), begin + first + 1);
    const bool is_wanted = next != wanted.end() && *next < begin + last;
    if (std::abs(change) != last - first || std::min(ranks[first], ranks[last]) < large ||
        is_wanted) {
      return false;
    }
    for (index_t t = first + 1; t < last; ++t) {
      ranks[t] = ranks[first] + (change > 0 ? t - first : first - t);
    }
    return true;
  }
};

inline BlockCounter block_counter(Part part, index_t size, index_t extra, double norm,
                                  double tolerance, const Options& options) {
  BlockCounter c;
  c.half.part = part;
  c.size = size;
  c.extra = extra;
  c.norm = norm;
  c.tolerance = tolerance;
  c.relative = options.relative;
  if (options.order) c.asked = part == Part::lower ? options.order->lower : options.order->upper;
  c.wanted = options.blocks;
  std::sort(c.wanted.begin(), c.wanted.end());
  return c;
}

}  // namespace structmat::verify
