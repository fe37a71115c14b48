/// \file
/// Ranks of the off-diagonal blocks of a matrix given by generators, with the meaning of
/// rank_profile.hpp and without the matrix.
#pragma once

#include "structmat/semiseparable/semiseparable.hpp"
#include "structmat/verify/rank_profile.hpp"

namespace structmat::verify {

/// Rank profile of all strictly lower and strictly upper blocks; with options.order, the verdict.
///
/// m: batch 1, finite where a generator is read (p_0, q_{n-1}, a_0 and their like are not).
/// With H_k = M(k:n, 0:k) = O_k C_k, the R factor of [p_k^T; R_o,k+1 a_k] is that of O_k, the R
/// factor of [R_c,k-1 a_{k-1}^T; q_{k-1}^T] that of C_k^T, and H_k has the singular values of R_o,k
/// R_c,k^T. A bidiagonal form of it tells how many of them exceed the tolerance.
/// Cost: O(n N^2) for the factors (Dense: O(n N^3)) and O(n N^3) for the ranks; Block generators
/// with about N rows a block: O(n N^3). Relative::block takes about five times as long, since each
/// largest singular value is needed. Workspace: O(n N^2 / 256) and O(N^2).
/// Accuracy: singular values of H_k within c n eps |R_o,k| |R_c,k|, columns of both scaled freely; that
/// is c n eps sigma_1(H_k) unless generators cancel in H_k. Values below eps sigma_1 are reported
/// as 0. Neither ranks nor norms over- or underflow where entries of the matrix do.
/// Throws ShapeError (generators that do not fit together, a batch other than 1), DomainError (NaN
/// or Inf, with its place; a negative or NaN tolerance or order).
/// Source: Dewilde, van der Veen, "Time-Varying Systems and Computations" (1998), chapter 5.
template <Scalar T, transition::Uniform K>
Report quasiseparable(const QuasiseparableView<T, K>& m, const Options& options = {});
template <Scalar T>
Report quasiseparable(const Quasiseparable<T, transition::Block>& m, const Options& options = {});
template <Scalar T, transition::Uniform K>
Report quasiseparable(const Quasiseparable<T, K>& m, const Options& options = {}) {
  return quasiseparable(m.view(), options);
}

/// The same for blocks M(k:n, 0:k+1), which contain the diagonal. The matrix is lower triangular,
/// so the upper half stays empty.
template <Scalar T, transition::Uniform K>
Report semiseparable(const SemiseparableView<T, K>& m, const Options& options = {});
template <Scalar T>
Report semiseparable(const Semiseparable<T, transition::Block>& m, const Options& options = {});
template <Scalar T, transition::Uniform K>
Report semiseparable(const Semiseparable<T, K>& m, const Options& options = {}) {
  return semiseparable(m.view(), options);
}

/// Row t: the singular values of block t in the numbering of Report, descending, absolute, and
/// zeros behind them.
template <Scalar T>
struct GeneratorValues {
  Array<real_t<T>, 2> lower, upper;
};

/// All singular values that the generators allow: min(r, ...) of each strictly lower and strictly
/// upper block. lower: (n - 1, r_lower), upper: (n - 1, r_upper); Block generators: as many columns
/// as the largest block between two boundaries needs.
///
/// m as above. Cost: a LAPACK singular value decomposition of order r for each block. Accuracy: as
/// above, c n eps sigma_1 of the block. Throws as above, and BackendError.
template <Scalar T, transition::Uniform K>
GeneratorValues<T> singular_values(const QuasiseparableView<T, K>& m);
template <Scalar T>
GeneratorValues<T> singular_values(const Quasiseparable<T, transition::Block>& m);
template <Scalar T, transition::Uniform K>
GeneratorValues<T> singular_values(const Quasiseparable<T, K>& m) {
  return singular_values<T, K>(m.view());
}

/// The same for blocks that contain the diagonal: lower (n, r), upper (0, 0).
template <Scalar T, transition::Uniform K>
GeneratorValues<T> singular_values(const SemiseparableView<T, K>& m);
template <Scalar T>
GeneratorValues<T> singular_values(const Semiseparable<T, transition::Block>& m);
template <Scalar T, transition::Uniform K>
GeneratorValues<T> singular_values(const Semiseparable<T, K>& m) {
  return singular_values<T, K>(m.view());
}

}  // namespace structmat::verify
