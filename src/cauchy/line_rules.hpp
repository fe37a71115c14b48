/// \file
/// When cells of nodes on a line may exchange proxies, and how many: the same rules on the CPU and on
/// a GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "structmat/core/scalar.hpp"

namespace structmat::cauchy::line_rules {

/// Cells of the same size in a row, such as halving makes of evenly spread nodes, are apart from the
/// next but one by this many half widths and a margin.
inline constexpr double wanted_opening = 2.5;
inline constexpr double least_opening = 1.9;

/// -log of what rho^-p must reach. Both sides are interpolated, each on all levels, with errors that
/// fall quickly with the distance: 10 covers the sum. Less than eps cannot be had.
template <RealScalar R>
double wanted_digits(double tolerance) {
  return std::log(10 / std::max(tolerance, static_cast<double>(epsilon<R>)));
}

/// Proxies of a cell, a multiple of `step`.
template <RealScalar R>
index_t order_for(double tolerance, index_t step) {
  const double rho = wanted_opening + std::sqrt(wanted_opening * wanted_opening - 1);
  const auto terms = static_cast<index_t>(std::ceil(wanted_digits<R>(tolerance) / std::log(rho)));
  return (terms + step - 1) / step * step;
}

/// How far, in half widths from its center, a cell must be: what the order, rounded up, allows.
template <RealScalar R>
double opening_for(double tolerance, index_t order) {
  const double rho = std::exp(wanted_digits<R>(tolerance) / static_cast<double>(order));
  return std::max(least_opening, (rho + 1 / rho) / 2);
}

// A cell has the interval [low, high] of its nodes, and half = (high - low) / 2. Where there are few
// numbers of the type in it, none of them may be its center: positions are counted from low.

template <class Cell>
constexpr auto gap(const Cell& a, const Cell& b) {
  return std::max(a.low - b.high, b.low - a.high);
}

/// A half width from here on maps to [-1, 1] with all digits.
template <RealScalar R>
inline constexpr R least_half = std::numeric_limits<R>::min() / epsilon<R>;

/// Is `other` so far from the cell that proxies may stand for it?
template <class Cell>
constexpr bool is_apart(const Cell& cell, const Cell& other, double opening) {
  using R = decltype(cell.half + 0);
  if (cell.high > cell.low && cell.half < least_half<R>) return false;
  const R distance =
      std::max((other.low - cell.low) - cell.half, (cell.low - other.high) + cell.half);
  return distance > 0 && static_cast<double>(distance) >= opening * static_cast<double>(cell.half);
}

/// What becomes of a pair of cells: it is divided, the wider one first, until each side can be taken
/// as a whole: by proxies where it is apart from the other, or as a leaf.
enum class Step { none, taken, divide_row, divide_col };
struct Decision {
  Step step;
  bool row_apart, col_apart;
};
template <class Cell>
constexpr Decision decide(const Cell& row, bool row_is_leaf, const Cell& col, bool col_is_leaf,
                          double opening) {
  // Nothing but coincidences, which are skipped, in cells of any size.
  if (row.low == col.high && row.high == col.low) return {Step::none, false, false};
  const bool row_apart = is_apart(row, col, opening), col_apart = is_apart(col, row, opening);
  const bool row_whole = row_apart || row_is_leaf, col_whole = col_apart || col_is_leaf;
  Step step = Step::taken;
  if (!row_whole || !col_whole) {
    const bool divide_row = !row_whole && (col_whole || row.half >= col.half);
    step = divide_row ? Step::divide_row : Step::divide_col;
  }
  return {step, row_apart, col_apart};
}

}  // namespace structmat::cauchy::line_rules
