/// \file
/// Quasiseparable matrices from banded ones. With l diagonals below the main one and u above it,
/// the orders are (l, u).
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// M_ij = diagonals(u + i - j, j) for -u <= i - j <= l, otherwise 0.
///
/// diagonals: (b, l + u + 1, n) in, any strides: the band storage of LAPACK, the highest diagonal
/// first, each entry in its column; what lies outside of the matrix is not read. bandwidth: (l, u),
/// each >= 0, also n and above.
/// Dense: the state is the last l entries of x, p_i row i of the band, a the shift, q = e_1; n (l^2 +
/// 2 l) numbers below. That is the form for narrow bands and for all that works on uniform kinds.
/// Block: blocks of m = max(l, u, 8) rows, n (2 l + l^2 / m) numbers below, as many with u above, n
/// m on the diagonal; all transitions are 0. Less storage and work from l = u = 3 on, for wide bands
/// by a factor of 2 (l + 2) / 7.
/// Cost: that many numbers written. Exact. Throws ShapeError.
template <Scalar T, class K = transition::Dense>
requires(std::same_as<K, transition::Dense> || std::same_as<K, transition::Block>)
    Quasiseparable<T, K> from_banded(View<const T, 3> diagonals, Order bandwidth);

/// M_{i+1,i} = sub_i, M_ii = diagonal_i, M_{i,i+1} = super_i, otherwise 0.
///
/// diagonal: (b or 1, n) in; sub, super: (b or 1, n - 1) in (n = 0: 0), any strides.
/// Orders (1, 1), all transitions 0. Cost: 7 n numbers. Exact. Throws ShapeError.
template <Scalar T>
Quasiseparable<T, transition::Scalar> from_tridiagonal(View<const T, 2> sub,
                                                       View<const T, 2> diagonal,
                                                       View<const T, 2> super);

}  // namespace structmat::quasiseparable
