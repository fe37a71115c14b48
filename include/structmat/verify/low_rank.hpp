/// \file
/// Numerical rank of a dense m x n matrix, with margins.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::verify {

struct RankOptions {
  /// Verdict: is the rank at most this? Unset: the rank is only measured.
  std::optional<index_t> order{};
  /// Relative to the reference. Unset: max(m, n) eps.
  std::optional<double> tolerance{};
  /// A singular value counts when it exceeds tolerance * reference. Unset: ||A||_F.
  std::optional<double> reference{};
  /// With `order`: stop once the rows read so far exceed it (complete = false).
  bool stop_at_violation = true;
  /// Called now and then with the fraction done, 0 to 1.
  std::function<void(double)> progress{};
};

struct RankReport {
  std::string property;  ///< "low rank" or "displacement rank"
  index_t rows = 0, cols = 0;
  std::optional<index_t> asked{};
  bool holds = true;     ///< true when no order was asked for
  bool complete = true;  ///< false after an early stop: the rank is then a lower bound
  index_t rank = 0;
  double smallest_kept = 0, largest_dropped = 0;  ///< relative to the reference; 0: there is none
  /// The largest, descending, relative to the reference: all those above rounding level.
  std::vector<double> singular_values;
  double tolerance = 0;
  double reference = 0;
};

/// The number of singular values of A above tolerance * reference; with options.order, the verdict.
///
/// a: (m, n) in, any strides, finite.
/// A sweep over blocks of rows (of columns, if those are fewer) carries a factor C with C^H C = A^H
/// A for the rows so far: [C; new rows] = U S V^H gives the next one, S V^H, without what lies
/// below an eighth of the threshold or below rounding. Cost: O(m n r) for rank r, a dense singular
/// value decomposition at worst; workspace O((r + block) max(m, n)). Accuracy: singular values
/// within max(m, n) eps ||A||_F, plus tolerance / 8 * reference. Throws DomainError (NaN or Inf,
/// with its place; a negative or NaN tolerance, reference or order).
template <Scalar T>
RankReport low_rank(View<const T, 2> a, const RankOptions& options = {});

template <Scalar T>
RankReport low_rank(const Array<T, 2>& a, const RankOptions& options = {}) {
  return low_rank(a.view(), options);
}

}  // namespace structmat::verify
