/// \file
/// Structures that are seen entry by entry: how far a dense m x n matrix is from each, and the
/// parameters it would have.
///
/// Each test compares a_ij with the entry e_ij that the parameters give. The deviation is
///   Toeplitz, Hankel, circulant, banded, diagonal, triangular, symmetric, Hermitian:
///     max |a_ij - e_ij| / ||A||_F;
///   Vandermonde: max |a_ij - e_ij| / max(|a_ij|, |e_ij|), relative to each entry, since powers
///     span many orders of magnitude;
///   Cauchy: with the reciprocals w_ij = 1 / a_ij, max |w_ij - (s_i - t_j)| / (|w_ij| + |w_i0| +
///     |w_00| + |w_0j|): nodes come from sums of reciprocals, whose rounding is of that size; 1 where
///     an entry is 0 or has no finite reciprocal.
/// The structure holds when the deviation is at most the tolerance. Parameters are read off entries
/// (the first of a diagonal, say), not fitted. All tests take any strides, cost O(m n), and throw
/// DomainError (NaN or Inf with its place, a negative or NaN tolerance), ShapeError where a
/// structure needs a square matrix. A matrix without entries has every structure.
#pragma once

#include <optional>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/verify/rank_profile.hpp"

namespace structmat::verify {

struct EntrywiseOptions {
  /// Unset: max(m, n) eps.
  std::optional<double> tolerance{};
};

/// How far the matrix is from a structure.
struct Deviation {
  bool holds = true;
  double largest = 0;        ///< in the measure of the structure
  index_t row = 0, col = 0;  ///< where that is
  double tolerance = 0;
};

/// A matrix of a family with the parameters that were read off, and how far the dense one is from it.
template <class M>
struct Nearest : Deviation {
  M matrix;
};

/// a_ij = column[i - j] or row[j - i].
template <Scalar T>
struct ToeplitzFound : Deviation {
  std::vector<T> column, row;
};
template <Scalar T>
ToeplitzFound<T> toeplitz(View<const T, 2> a, const EntrywiseOptions& options = {});

/// a_ij = column[i + j], or row[i + j - (m - 1)] of the last row.
template <Scalar T>
struct HankelFound : Deviation {
  std::vector<T> column, row;
};
template <Scalar T>
HankelFound<T> hankel(View<const T, 2> a, const EntrywiseOptions& options = {});

/// a_ij = column[(i - j) mod n]; square.
template <Scalar T>
struct CirculantFound : Deviation {
  std::vector<T> column;
};
template <Scalar T>
CirculantFound<T> circulant(View<const T, 2> a, const EntrywiseOptions& options = {});

/// The least bandwidths with |a_ij| <= tolerance ||A||_F for i - j > lower and j - i > upper. Always
/// holds; `largest` is the largest of the entries outside.
struct BandFound : Deviation {
  index_t lower = 0, upper = 0;
};
template <Scalar T>
BandFound banded(View<const T, 2> a, const EntrywiseOptions& options = {});

/// a_ij = 0 for i != j.
template <Scalar T>
Deviation diagonal(View<const T, 2> a, const EntrywiseOptions& options = {});

/// a_ij = 0 above the diagonal (Part::lower) or below it (Part::upper).
template <Scalar T>
Deviation triangular(View<const T, 2> a, Part part, const EntrywiseOptions& options = {});

/// a_ij = a_ji; square.
template <Scalar T>
Deviation symmetric(View<const T, 2> a, const EntrywiseOptions& options = {});

/// a_ij = conj(a_ji); square.
template <Scalar T>
Deviation hermitian(View<const T, 2> a, const EntrywiseOptions& options = {});

/// a_ij = x_i^j, x_i = a_i1; a single column of ones has no nodes to find.
template <Scalar T>
struct VandermondeFound : Deviation {
  std::vector<T> nodes;
};
template <Scalar T>
VandermondeFound<T> vandermonde(View<const T, 2> a, const EntrywiseOptions& options = {});

/// a_ij = 1 / (s_i - t_j), with t_0 = 0: a common shift of all nodes does not show.
template <Scalar T>
struct CauchyFound : Deviation {
  std::vector<T> s, t;
};
template <Scalar T>
CauchyFound<T> cauchy(View<const T, 2> a, const EntrywiseOptions& options = {});

}  // namespace structmat::verify
