/// \file
/// Circulant matrices close to a Toeplitz matrix: preconditioners of iterative methods.
#pragma once

#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

/// The central diagonals, wrapped round: s_l = c_l for 2 l < n, c_{l-n} for 2 l > n and their mean
/// between. Hermitian if T is; close where the lags decay, and possibly indefinite for a definite T.
/// m: n x n. Cost: O(n). Throws ShapeError. Source: Strang, "A proposal for Toeplitz matrix
/// calculations", Stud. Appl. Math. 74 (1986).
template <Scalar T>
Circulant<T> strang_circulant(const ToeplitzView<T>& m);

/// The circulant matrix next to T in the Frobenius norm: s_l = ((n - l) c_l + l c_{l-n}) / n. Definite
/// if T is. m: n x n. Cost: O(n). Throws ShapeError. Source: T. Chan, "An optimal circulant
/// preconditioner for Toeplitz systems", SIAM J. Sci. Stat. Comput. 9 (1988).
template <Scalar T>
Circulant<T> chan_circulant(const ToeplitzView<T>& m);

}  // namespace structmat::toeplitz
