/// \file
/// The inverse of a Hermitian quasiseparable matrix from its LDL factor: again Hermitian
/// quasiseparable, of the same order.
#pragma once

#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {

/// M^{-1} = L^{-H} diag(d)^{-1} L^{-1} as a matrix of order (r, r).
///
/// L^{-1} has the generators -p, a - w p^T, w. With Z_i the sum over k > i of the squares of what
/// rows k of it hold of the state behind index i,
///   Z_{i-1} = conj(p_i) p_i^T / d_i + (a_i - w_i p_i^T)^H Z_i (a_i - w_i p_i^T),  Z_{n-1} = 0,
/// the inverse has the diagonal 1 / d_i + w_i^H Z_i w_i and the lower generators
///   conj(a_i^H Z_i w_i) - (M^{-1})_ii p_i,  a_i - w_i p_i^T,  w_i;
/// the transitions are dense whatever those of M are. Unused rows at the ends are 0.
/// f: the factor, any batch. Cost: O(n r^2), Dense O(n r^3); 2 n r^2 numbers of result. Threads: over
/// the batch. Accuracy: c (n + r) eps times the condition of M, normwise; a definite M is assumed for
/// that.
/// Throws ShapeError. Source: Eidelman, Gohberg, "On a new class of structured matrices" (1999),
/// section 6.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Dense> inverse(const exec::cpu& e, const LdlView<T, K>& f);
template <Scalar T, class K>
Quasiseparable<T, transition::Dense> inverse(const Ldl<T, K>& f) {
  return inverse(exec::cpu{}, f.view());
}

/// diagonal := that of M^{-1}, without the rest.
///
/// diagonal: (batch, n) out, any strides. Cost as inverse; workspace O(r^2) per thread. Throws
/// ShapeError before anything is written.
template <Scalar T, transition::Uniform K>
void inverse_diagonal(const exec::cpu& e, const LdlView<T, K>& f, View<real_t<T>, 2> diagonal);

}  // namespace structmat::quasiseparable
