/// \file
/// A square Toeplitz matrix as a Cauchy-like one, by Fourier transforms.
///
/// Z_1 T - T Z_-1 = [e_0, k] [r, e_{n-1}]^T with k_0 = c_0, k_i = c_i + c_{i-n} and r_{n-1} = c_0,
/// r_j = c_{n-1-j} - c_{-1-j}. With the unitary F_jk = exp(2 pi i j k / n) / sqrt(n) and
/// D = diag(exp(i pi k / n)), Z_1 = F^H W F with W = diag(exp(2 pi i k / n)), and
/// Z_-1 = exp(i pi / n) D^-1 Z_1 D, so that
///
///   C = F T D^-1 F^H,  W C - C exp(i pi / n) W = (F [e_0, k]) (conj(F) D^-1 [r, e_{n-1}])^T,
///   C_ij = g_i . h_j / (s_i - t_j),  s_i = exp(2 pi i i / n),  t_j = exp(i pi (2j + 1) / n).
///
/// D is what makes the second operator skew-circulant: its eigenvalues lie between those of the first.
///
///   T x = b     <=>  C (F D x) = F b
///   T^T x = b   <=>  C^T (conj(F) x) = conj(F) D^-1 b
///   T^H x = b   <=>  C^H (F x) = F D b
///   det T = i^{n-1} det C
///
/// Source: Heinig, "Inversion of generalized Cauchy matrices and other classes of structured
/// matrices" (1995); Gohberg, Kailath, Olshevsky, Math. Comp. 64 (1995).
#pragma once

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

/// C = F T D^-1 F^H, of displacement rank 2.
///
/// m: n x n. Cost: O(n log n) for each matrix of the batch. Accuracy: normwise, c log2(n) eps ||T||_F,
/// but that the nodes are rounded to the type: an entry beside the diagonal has differences of nodes
/// of about 1 / n and a relative error of about n eps. The solver (solve.hpp) keeps more digits of
/// them. Throws ShapeError (m x n with m != n).
template <Scalar T>
CauchyLike<std::complex<real_t<T>>> to_cauchy_like(const ToeplitzView<T>& m);
template <Scalar T>
CauchyLike<std::complex<real_t<T>>> to_cauchy_like(const Toeplitz<T>& m) {
  return to_cauchy_like(m.view());
}

/// The same on the device, written into c, which is n x n of order 2 with the batch of m; any strides of m.
/// Enqueues on e.stream, never allocates or synchronises. Cost: the transforms are sums of n terms, 16 n^2
/// flops a matrix, for n up to a few thousand. Accuracy: as on the host, transforms with sqrt(n) eps.
/// Throws NotAvailable; ShapeError, BackendError.
template <Scalar T>
void to_cauchy_like(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m,
                    CauchyLike<std::complex<real_t<T>>, space::cuda>& c);

}  // namespace structmat::toeplitz
