/// \file
/// Exact ranks of the off-diagonal blocks of a dense matrix.
///
/// The blocks are those of verify/rank_profile.hpp: strictly below the diagonal M(k:n, 0:k), k = 1
/// .. n-1; with the diagonal M(k:n, 0:k+1), k = 0 .. n-1; above it the same blocks of the
/// transpose.
#pragma once

#include <optional>
#include <vector>

#include "structmat/exact/matrix.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/verify/rank_profile.hpp"

namespace structmat::exact {

/// Ranks block by block, and their maxima.
struct RankProfile {
  std::vector<index_t> lower, upper;
  Order order{};
  friend bool operator==(const RankProfile&, const RankProfile&) = default;
};

enum class Blocks { strict, with_diagonal };
using verify::Part;

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

/// How ranks over the rationals are found.
struct RationalOptions {
  Blocks blocks = Blocks::strict;
  int primes = 3;              ///< how many different primes between 2^25 and 2^26 are drawn
  std::uint64_t seed = 1;      ///< of that choice
  bool deterministic = false;  ///< prove the ranks by elimination over the rationals
};

struct RationalRankProfile {
  /// Block by block the largest of the ranks modulo the primes: none exceeds the rank over the
  /// rationals. It is lower only if every prime divides the same minors.
  RankProfile ranks{};
  bool proved = false;                  ///< the ranks are equal to those over the rationals
  std::vector<std::uint32_t> primes{};  ///< those used; none divides a denominator
};

/// Ranks over the rationals, from below through several primes; with options.deterministic exactly,
/// from generators with minimal states (from_dense): O(n^2 N) operations with fractions of minors
/// of size N. Throws ShapeError, DomainError (less than one prime, unless deterministic).
STRUCTMAT_EXPORT RationalRankProfile rank_profile(const Matrix<RationalField>& m,
                                                  const RationalOptions& options = {});

/// Verdict of randomised.
struct Verdict {
  /// M(k:n, 0:k), or that block of the transpose, has a rank of at least `rank`.
  struct Violation {
    Part part = Part::lower;
    index_t k = 0, rank = 0;
  };
  bool holds = true;
  std::optional<Violation> violation{};  ///< a proof, when it does not hold
  double failure_probability = 0;        ///< that a matrix of larger order passes, at most
};

/// Is the matrix of the given order? Projections of all blocks onto N + 1 random combinations of
/// rows and columns, M_k = G^T M(k:n, 0:k) H, follow each other by updates of rank 1:
///   M_k = M_{k-1} - g_{k-1} (L H)_{k-1} + (L^T G)_{k-1}^T h_{k-1}.
/// If M_k is invertible, the order is exceeded. Otherwise it holds, but for a probability of 2 (N +
/// 1) / p: det M_k of a block of larger rank is a polynomial of degree 2 (N + 1) in the random
/// entries and not zero (Schwartz, Zippel); one such block is enough. Cost: 2 n^2 (N + 1)
/// operations a triangle, in BLAS, and O(n N^3): twice as much as rank_profile where the order is
/// N, and no more where it is larger. Throws ShapeError, DomainError (a negative order).
STRUCTMAT_EXPORT Verdict randomised(const Matrix<PrimeField>& m, Order order, std::uint64_t seed);

}  // namespace structmat::exact
