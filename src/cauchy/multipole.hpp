/// \file
/// Cauchy sums over nodes in the plane by the fast multipole method.
#pragma once

#include "multipole_scheme.hpp"
#include "multipole_tree.hpp"
#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/exec.hpp"

namespace structmat::cauchy {

/// y_ic = sum_j x_jc / (s_i - t_j) for fixed nodes s (targets) and t (sources), as often as wanted.
/// Arithmetic is in double, for R = float too. Constant use is safe from several threads; the bits
/// of a result do not depend on the number of threads.
///
/// Accuracy: |error_i| <= (tolerance + c u) sum_j |x_j| / |s_i - t_j| with a c of about 100, in every row, u
/// the unit roundoff of double, plus the rounding of the result to R. A row whose sum cancels
/// therefore loses digits, and a node far away keeps its small sum. A tolerance below 4 u is taken
/// as 4 u.
///
/// Cost, for m targets and n sources: O((m + n) log(1/tolerance)) for the trees, O(m + n) expansions
/// of O(log(1/tolerance)) terms, O(log(1/tolerance)^2) a pair of boxes. Halving a box follows the
/// nodes in it, so empty space costs nothing, and the depth is bounded by the exponents of double;
/// each octave of distances at which the nodes accumulate costs one more look at the nodes inside.
/// Memory: O(m + n).
///
/// Nodes whose difference is no larger than rounding are summed like all near ones, directly. Where
/// s_i = t_j, the constructor throws (Coincidence::error) or the term is zero (skip). A charge that
/// is not finite makes every output not finite at worst.
///
/// Source: Greengard, Rokhlin, "A fast algorithm for particle simulations", J. Comput. Phys. 73
/// (1987); boxes by Callahan, Kosaraju, "A decomposition of multidimensional point sets with
/// applications to k-nearest-neighbors and n-body potential fields", J. ACM 42 (1995).
template <RealScalar R>
class Multipole {
 public:
  /// s (m), t (n): copied. 0 < tolerance < 1. Throws DomainError for a node that is not finite or
  /// exceeds 2^1000 in modulus, for another tolerance, and for the first pair s_i = t_j (by i, then
  /// by j) unless it is to be skipped.
  Multipole(View<const std::complex<R>, 1> s, View<const std::complex<R>, 1> t, R tolerance,
            Coincidence coincidence = Coincidence::error, const exec::cpu& e = {});

  index_t rows() const { return targets_.size(); }
  index_t cols() const { return sources_.size(); }

  /// x: (n, k) in; y: (m, k) out, not overlapping x; any strides. Throws ShapeError.
  /// Workspace: the multipole expansions, 16 bytes for each term, box of sources and column, up to
  /// four columns at a time.
  void apply(const exec::cpu& e, View<const std::complex<R>, 2> x,
             View<std::complex<R>, 2> y) const;

 private:
  multipole::Scheme scheme_;
  multipole::Tree targets_, sources_;
};

}  // namespace structmat::cauchy
