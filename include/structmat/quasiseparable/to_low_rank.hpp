/// \file
/// Triangles of a quasiseparable matrix as those of low-rank matrices:
///
///   M = tril(U V^T, -1) + diag(d) + triu(W X^T, 1)
///
/// With C_i = a_i ... a_{c+1} for i >= c, (a_c ... a_{i+1})^-1 for i < c, and c in the middle,
///   u_i^T = p_i^T C_{i-1},   v_j = C_j^-1 q_j,   since a_{i-1} ... a_{j+1} = C_{i-1} C_j^-1.
/// That takes transitions with an inverse, and products of them that are numbers: a decay of 0.9 a
/// step underflows on the way to row 7000 and spoils nothing in the generators, but everything in U
/// and V. Parts of a matrix may have the form where the whole has not: principal_submatrix(m, begin,
/// end) is a view of one. The shift matrix has order 1 and no such form.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
struct LowRankTriangles {
  Array<T, 3> u, v;  ///< (batch, n, r_lower); u_0 and v_{n-1}, which do not enter, are 0
  Array<T, 2> d;     ///< (batch, n)
  Array<T, 3> w, x;  ///< (batch, n, r_upper); w_{n-1} and x_0 are 0
};

/// U, V, d, W, X of m.
///
/// Cost: O(n r), Dense: O(n r^3). Accuracy: entries of U V^T have relative errors of about n eps times
/// the condition number of C, which is refused above 1 / eps (Dense), and n eps (Scalar, Diagonal).
/// Throws ShapeError; DomainError, with the index, for a transition that is singular and for products
/// that over- or underflow or are singular to working precision.
template <Scalar T, transition::Uniform K>
LowRankTriangles<T> to_low_rank_triangles(const QuasiseparableView<T, K>& m);
template <Scalar T, transition::Uniform K>
LowRankTriangles<T> to_low_rank_triangles(const Quasiseparable<T, K>& m) {
  return to_low_rank_triangles(m.view());
}

}  // namespace structmat::quasiseparable
