/// \file
/// Fewer generators: the displacement of a dense matrix, or G H^T, replaced by its best approximation
/// of small rank.
#pragma once

#include <optional>
#include <vector>

#include "structmat/displacement/generators.hpp"

namespace structmat::displacement {

struct CompressOptions {
  /// Singular values of the displacement up to tolerance * reference are dropped. Unset: 16 r eps of the r
  /// generators given (compress), max(m, n) eps (from_dense).
  std::optional<double> tolerance{};
  /// At most so many are kept.
  std::optional<index_t> order{};
};

template <Scalar T>
struct Compressed {
  Generators<T> generators;
  /// Of the displacement given, descending; those kept come first.
  std::vector<double> singular_values;
  /// ||displacement given - G H^T of the result||_F, but for rounding: the root of the sum of the squares
  /// of what was dropped.
  double error = 0;
  /// What singular values were compared with: sum_j ||g_j|| ||h_j|| of the generators given (compress),
  /// ||A X||_F + ||X B||_F (from_dense; Stein: ||X||_F + ||A X B||_F). Rounding is of that size.
  double reference = 0;
};

/// The same matrix up to `error` in its displacement, with orthogonal columns of equal norms in G and
/// H.
///
/// The error of X itself is larger by at most the norm of the inverse of the displacement operator
/// (docs/math/displacement.md). Cost: O((m + n) r^2 + r^3): QR factorisations of G and H, singular values
/// of the r x r core. Accuracy: singular values within c r eps reference. Throws ShapeError, DomainError (NaN
/// or Inf; a negative or NaN tolerance, a negative order).
template <Scalar T>
Compressed<T> compress(const Generators<T>& x, const CompressOptions& options = {});

/// Generators of a dense matrix.
///
/// a: (m, n) in, any strides, finite; d: as in displace. Cost: O(m n min(m, n)), workspace of three m x n
/// matrices. Throws as compress, and as displace.
template <Scalar T>
Compressed<T> from_dense(View<const T, 2> a, const Displacement<T>& d,
                         const CompressOptions& options = {});
template <Scalar T>
Compressed<T> from_dense(const Array<T, 2>& a, const Displacement<T>& d,
                         const CompressOptions& options = {}) {
  return from_dense(a.view(), d, options);
}

}  // namespace structmat::displacement
