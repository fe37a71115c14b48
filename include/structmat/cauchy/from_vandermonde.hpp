/// \file
/// Vandermonde matrices as Cauchy-like ones, by a Fourier transform.
#pragma once

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/exec.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat::cauchy {

/// C = V U^-1, of displacement rank 1, with U_kj = z_k^j / sqrt n over the n-th roots z_k of `corner`:
///   C_ik = (x_i^n - corner) (z_k / (corner sqrt n)) / (x_i - z_k),
/// the diagonal x Cauchy matrix x diagonal of barycentric interpolation at the z_k. V c = C (U c), and
/// displacement::to_eigenbasis(displacement::shift(corner), c) is U c.
///
/// v: m x n with batch; corner: not 0, of modulus about 1 (U is unitary for modulus 1). Cost: O(m log n + n log n).
/// Accuracy: an entry loses figures as eps / |x_i - z_k| relative to its distance from the root: choose a
/// corner whose roots are away from the nodes. Throws ShapeError; DomainError for corner 0, where x_i^n is
/// not finite, and where x_i^n equals the corner up to n eps: the row is 0 / 0 there.
template <Scalar T>
CauchyLike<std::complex<real_t<T>>> from_vandermonde(
    const VandermondeView<T>& v, std::type_identity_t<std::complex<real_t<T>>> corner = 1);
template <Scalar T>
CauchyLike<std::complex<real_t<T>>> from_vandermonde(
    const Vandermonde<T>& v, std::type_identity_t<std::complex<real_t<T>>> corner = 1) {
  return from_vandermonde(v.view(), corner);
}

/// The same on the device, x_i^n formed in double. Allocates the result and synchronises with e.stream: nodes on roots
/// are refused. Cost: O(m log n + n). Throws as on the CPU; NotAvailable, BackendError.
template <Scalar T>
CauchyLike<std::complex<real_t<T>>, space::cuda> from_vandermonde(
    const exec::cuda& e, const VandermondeView<T, space::cuda>& v,
    std::type_identity_t<std::complex<real_t<T>>> corner = 1);

}  // namespace structmat::cauchy
