/// \file
/// Quasiseparable matrices from shifted semiseparable ones, and back:
///
///   M = Z S_l + J Z S_u J + D,      Z the down-shift, J the reversal (core/shift.hpp)
///
/// so that M x = shift(S_l x) + flip(shift(S_u flip(x))) + d x. Entry by entry, with (c, A, b) the
/// generators of S_l and (c', A', b') those of S_u, which count from the other end (i' = n - 1 -
/// i):
///   i > j:  M_ij = c_{i-1}^T A_{i-1} ... A_{j+1} b_j         p_i = c_{i-1},  a_i = A_i,  q_j = b_j
///   i < j:  M_ij = c'_{i'-1}^T A'_{i'-1} ... A'_{j'+1} b'_{j'}   g_i = c'_{i'-1}, b_i = A'_{i'},
///   h_j = b'_{j'}
/// Row 0 of Z S_l and row n-1 of J Z S_u J are zero; the transition of the row itself never enters.
///
/// Source: Hwang, Lahoti, Dao, Gu, "Hydra: Bidirectional State Space Models Through Generalized
/// Matrix Mixers" (2024), proposition 3.7.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat::quasiseparable {

/// M = Z S_l + J Z S_u J + diag(d).
///
/// lower, upper: of size n, orders free, batch b or 1; d: (b or 1, n) in. The generators are
/// copied. Cost: O(n r) copies (Dense: n r^2). Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_semiseparable(const SemiseparableView<T, K>& lower,
                                        const SemiseparableView<T, K>& upper, View<const T, 2> d);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_semiseparable(const Semiseparable<T, K>& lower,
                                        const Semiseparable<T, K>& upper, const Array<T, 2>& d) {
  return from_semiseparable(lower.view(), upper.view(), d.view());
}

/// The parts of M = Z S_l + J Z S_u J + diag(d).
template <Scalar T, transition::Uniform K>
struct ShiftedSemiseparable {
  Semiseparable<T, K> lower, upper;
  Array<T, 2> d;
};

/// The other direction. The last rows of S_l and S_u, which the shift drops, are free: c there is
/// 0.
///
/// Cost: O(n r) copies (Dense: n r^2). Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
ShiftedSemiseparable<T, K> to_semiseparable(const QuasiseparableView<T, K>& m);
template <Scalar T, transition::Uniform K>
ShiftedSemiseparable<T, K> to_semiseparable(const Quasiseparable<T, K>& m) {
  return to_semiseparable(m.view());
}

/// M = S with exclusive generators below the diagonal, and order 0 above it:
///   p_i = A_i^T c_i,  a_i = A_i,  q_j = b_j,  d_i = c_i^T b_i.
///
/// s: size n, batch b. verify/extension.hpp has the way back. Cost: 2 n r flops, Dense: 2 n r^2.
/// Accuracy: one product of A_i and c_i (r eps), and of c_i and b_i. Throws ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_semiseparable(const SemiseparableView<T, K>& s);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_semiseparable(const Semiseparable<T, K>& s) {
  return from_semiseparable(s.view());
}

}  // namespace structmat::quasiseparable
