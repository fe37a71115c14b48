/// \file
/// Compressions M of several blocks beside each other, one a lane: the leaf loops of the randomised
/// check.
///
/// An element is Lanes<T, lane_count>: `reals` numbers next to each other. A matrix has its columns
/// one after the other.
#pragma once

#include "core/simd.hpp"

namespace structmat::verify {

/// A vector of the widest registers.
template <Scalar T>
inline constexpr int lane_count = 64 / sizeof(real_t<T>);

template <Scalar T>
inline constexpr index_t lane_reals = simd::Lanes<T, lane_count<T>>::reals;

/// The rows of one step, s elements each.
template <Scalar T>
struct StepRows {
  const real_t<T>*g2, *x1, *x2, *g1;
};

/// M := M - conj(g2) x1^T + conj(x2) g1^T; m: (s, s) in/out.
template <Scalar T>
void advance_lanes(index_t s, const StepRows<T>& rows, real_t<T>* m);

/// For each lane the squared Frobenius norm of what `steps` Householder reflections leave of M
/// below row and right of column `steps`: the square of an upper bound of its singular value number
/// steps + 1, since without that rest the rank is `steps`.
///
/// m: (s, s) in; work: (s, steps + 1) out; squares: one number a lane out. 0 <= steps < s.
template <Scalar T>
void trailing_squares(index_t s, index_t steps, const real_t<T>* m, real_t<T>* work,
                      real_t<T>* squares);

}  // namespace structmat::verify
