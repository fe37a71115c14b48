/// \file
/// Cauchy sums at nodes that are roots of unity under a bilinear map, those of state-space models (S4):
///
///   y_k = 2 / (1 + w_k) sum_n v_n / (z_k - lambda_n),   z_k = (2 / dt) (1 - w_k) / (1 + w_k),
///   w_k = exp(-2 pi i k / L),  0 <= k < L.
///
/// With u = lambda dt / 2 and p = pi k / L this is sum_n v_n (dt / 2) exp(i p) / (i sin p - u_n cos p), finite also at
/// w = -1, where z is not; and with zeta = (1 + u) / (1 - u) the transform of a geometric sequence,
///   y_k = sum_n v_n dt / (1 - u_n) / (1 - zeta_n w_k).
///
/// Source: Gu, Goel, Re, "Efficiently modeling long sequences with structured state spaces" (2022).
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/view.hpp"

namespace structmat::cauchy {

/// The L x n matrix of these sums. poles: (batch, n); dt: (batch), each positive; an extent 1 is broadcast.
template <ComplexScalar T, class Space = space::host>
struct MappedRootsView {
  using value_type = T;

  View<const T, 2, Space> poles{};
  View<const real_t<T>, 1, Space> dt{};
  index_t length = 0;
};

/// y := the sums for each column of v. v: (batch, n, k) in, y: (batch, L, k) out; any strides; a batch extent
/// 1 of m or v is broadcast; no overlap.
///
/// Cost: L n k divisions. Accuracy: componentwise, (n + 8) eps sum_n |v_n dt| / |i sin p - u_n cos p|: differences are
/// formed in double, for double with an error eps / |i sin p - u_n cos p| more.
/// Threads: over batch and nodes; the result does not depend on their number.
/// Throws ShapeError; DomainError (a step that is not positive and finite, L < 0, a pole that is a
/// node, overlap).
template <ComplexScalar T>
void sums_on_roots_of_unity(const exec::cpu& e, const MappedRootsView<T>& m, View<const T, 3> v,
                            View<T, 3> y);

/// Reverse mode for a loss with dL = Re <y_bar, dy>: cotangents of the poles and of v are added to poles_bar,
/// (batch or 1, n), and v_bar, (batch or 1, n, k); either may be absent (data() null), extents 1 collect
/// the sum over the batch. That of dt follows from those of this product alone: (sum_n Re conj(lambda_n)
/// lambda_bar_n + sum_n Re conj(v_n) v_bar_n) / dt.
/// Throws as the sums.
template <ComplexScalar T>
void sums_on_roots_of_unity_vjp(const exec::cpu& e, const MappedRootsView<T>& m, View<const T, 3> v,
                                View<const T, 3> y_bar, View<T, 2> poles_bar, View<T, 3> v_bar);

/// The same on the device. Any strides, but results must not be broadcast. No workspace, no allocation, no
/// synchronisation; results repeat bit by bit and do not depend on the batch.
///
/// complex<float> and L a multiple of 128, from 4096 on: with k = k1 + (L / 128) k2 the sum is a product of an (L / 128
/// x n) and an (n x 128) table, on tensor cores, and transforms of length 128, all in shared memory: 8 n flops and
/// 8 bytes for each result, no division. Accuracy: normwise, 4 eps log n of the largest sum of absolute terms.
/// Otherwise, and in reverse mode, directly.
/// Steps and poles are not looked at: what cannot be computed is not finite. Throws ShapeError; DomainError
/// (overlap, L < 0); Unsupported (a result with stride 0); NotAvailable, BackendError.
template <ComplexScalar T>
void sums_on_roots_of_unity(const exec::cuda& e, const MappedRootsView<T, space::cuda>& m,
                            View<const T, 3, space::cuda> v, View<T, 3, space::cuda> y);
template <ComplexScalar T>
void sums_on_roots_of_unity_vjp(const exec::cuda& e, const MappedRootsView<T, space::cuda>& m,
                                View<const T, 3, space::cuda> v,
                                View<const T, 3, space::cuda> y_bar,
                                View<T, 2, space::cuda> poles_bar, View<T, 3, space::cuda> v_bar);

}  // namespace structmat::cauchy
