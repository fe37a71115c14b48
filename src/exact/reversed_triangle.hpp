/// \file
/// Panels of one triangle of a matrix over F_p, as doubles.
#pragma once

#include <algorithm>

#include "exact/modular.hpp"
#include "structmat/exact/rank_profile.hpp"

namespace structmat::exact::detail {

/// A lower triangle of M or of its transpose, with or without the diagonal. Rows are counted from
/// the last one: row t here is row n - 1 - t of the triangle.
class ReversedTriangle {
 public:
  ReversedTriangle(const Matrix<PrimeField>& m, Part part, Blocks blocks)
      : m_(m),
        lower_(part == Part::lower),
        extra_(blocks == Blocks::with_diagonal ? 1 : 0),
        modular_(m.field()) {}

  index_t size() const { return m_.rows(); }
  /// 1 with the diagonal, else 0.
  index_t extra() const { return extra_; }

  /// Rows [t0, t1) of columns [begin, end), row-major: centred residues, and zeros outside the
  /// triangle.
  void load(index_t t0, index_t t1, index_t begin, index_t end, double* to) const {
    const index_t n = m_.rows(), width = end - begin;
    const auto* const source = m_.elements().data();
    if (lower_) {
      for (index_t t = t0; t < t1; ++t) {
        const index_t i = n - 1 - t, inside = std::clamp(i + extra_ - begin, index_t{0}, width);
        const auto* const from = source + i * n + begin;
        double* const row = to + (t - t0) * width;
        for (index_t j = 0; j < inside; ++j) row[j] = modular_.centred(from[j]);
        std::fill(row + inside, row + width, 0.0);
      }
      return;
    }
    for (index_t j = begin; j < end; ++j) {
      const auto* const from = source + j * n;
      for (index_t t = t0; t < t1; ++t) {
        const index_t i = n - 1 - t;
        to[(t - t0) * width + j - begin] = i + extra_ > j ? modular_.centred(from[i]) : 0;
      }
    }
  }

 private:
  const Matrix<PrimeField>& m_;
  bool lower_;
  index_t extra_;
  Modular modular_;
};

}  // namespace structmat::exact::detail
