/// \file
/// Exact ranks of the off-diagonal blocks of a dense matrix.
///
/// The blocks are those of verify/rank_profile.hpp: strictly below the diagonal M(k:n, 0:k), k = 1
/// .. n-1; with the diagonal M(k:n, 0:k+1), k = 0 .. n-1; above it the same blocks of the
/// transpose.
#pragma once

#include <vector>

#include "structmat/exact/matrix.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::exact {

/// Ranks block by block, and their maxima.
struct RankProfile {
  std::vector<index_t> lower, upper;
  Order order{};
  friend bool operator==(const RankProfile&, const RankProfile&) = default;
};

enum class Blocks { strict, with_diagonal };
enum class Part { lower, upper };

/// Ranks of the blocks of both triangles. m: n x n.
///
/// All ranks are read from the rank profile matrix of each triangle (pivots nearest to the lower
/// left corner): the block at k contains as many of its nonzeros as its rank. Columns are
/// eliminated in panels; what remains of the pivot columns below the panel is carried in reduced
/// echelon form. A pivot column ends with its pivot, so it vanishes when its pivot's row is passed.
/// Cost: about n^2 N operations a triangle for order N, in BLAS, and O(n N) memory besides m. Exact
/// for each p. Throws ShapeError when m is not square.
/// Source: Pernet, Storjohann, "Time and space efficient generators for quasiseparable matrices",
/// J. Symb. Comput. 85 (2018), for the rank profile matrix of a triangle.
STRUCTMAT_EXPORT RankProfile rank_profile(const Matrix<PrimeField>& m,
                                          Blocks blocks = Blocks::strict);

/// The ranks of one triangle.
STRUCTMAT_EXPORT std::vector<index_t> rank_profile(const Matrix<PrimeField>& m, Part part,
                                                   Blocks blocks = Blocks::strict);

}  // namespace structmat::exact
