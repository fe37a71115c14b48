/// \file
/// Parts of a quasiseparable matrix, and matrices that are assembled from parts: all by operations
/// on generators, for the three uniform kinds of transition.
///
/// | operation           | result                       | orders                             |
/// |---------------------|------------------------------|------------------------------------|
/// | principal_submatrix | rows and columns of a set    | those of the matrix                |
/// | embed               | the reverse, filled with 0   | those of the matrix                |
/// | block_diagonal      | [X 0; 0 Y]                   | the larger ones of both            |
/// | bordered            | [M C; R D], k rows, columns  | those of M, plus k                 |
#pragma once

#include <concepts>
#include <type_traits>

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// Rows and columns begin <= i < end of m, without a copy: the generators of these indices.
///
/// 0 <= begin <= end <= n. Cost: O(1). Exact. The result refers to the generators of m. Throws
/// ShapeError.
template <Scalar T, transition::Uniform K>
QuasiseparableView<T, K> principal_submatrix(const QuasiseparableView<T, K>& m, index_t begin,
                                             index_t end);

/// Rows and columns i_0 < i_1 < ... of m. Transitions in between are multiplied:
///   p'_s^T = p_{i_s}^T a_{i_s - 1} ... a_{i_{s-1} + 1},   a'_s = a_{i_s} ... a_{i_{s-1} + 1},
///   h'_s = b_{i_{s-1} + 1} ... b_{i_s - 1} h_{i_s},       b'_s = b_{i_{s-1} + 1} ... b_{i_s};
/// d, q and g stay as they are.
///
/// indices: (s) in, strictly increasing, 0 <= i < n. Cost: O(n r), Dense: O(n r^3), for n counted from
/// the first index to the last. Accuracy: componentwise, relative error (j - i) eps (Dense: r times
/// that) of products of transitions. Throws ShapeError; DomainError (indices out of order or range).
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> principal_submatrix(const QuasiseparableView<T, K>& m,
                                         View<const index_t, 1> indices);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> principal_submatrix(const Quasiseparable<T, K>& m,
                                         View<const index_t, 1> indices) {
  return principal_submatrix(m.view(), indices);
}

/// The n x n matrix whose rows and columns i_0 < i_1 < ... are those of m, all others 0 (there p = q
/// = g = h = 0, d = 0, a = b = 1). principal_submatrix of the same indices undoes it.
///
/// indices: (size of m) in, strictly increasing, 0 <= i < n. Cost: O(n r), Dense: O(n r^2). Exact.
/// Throws ShapeError; DomainError (indices out of order or range).
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> embed(const QuasiseparableView<T, K>& m, View<const index_t, 1> indices,
                           index_t n);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> embed(const Quasiseparable<T, K>& m, View<const index_t, 1> indices,
                           index_t n) {
  return embed(m.view(), indices, n);
}

/// [X 0; 0 Y]. Both share their states, which are 0 between them.
///
/// Batch b or 1 each. Cost: O(n r), Dense: O(n r^2) copies. Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> block_diagonal(const QuasiseparableView<T, K>& x,
                                    const QuasiseparableView<T, K>& y);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> block_diagonal(const Quasiseparable<T, K>& x, const Quasiseparable<T, K>& y) {
  return block_diagonal(x.view(), y.view());
}

/// The kind of transition of a bordered matrix: new states keep what they are, old ones do not.
template <transition::Uniform K>
using BorderedKind =
    std::conditional_t<std::same_as<K, transition::Dense>, transition::Dense, transition::Diagonal>;

/// [M C; R D]: k more rows and columns, orders up by k.
///
/// columns: C, (b or 1, n, k) in; rows: R, (b or 1, k, n) in; corner: D, (b or 1, k, k) in; any
/// strides. The new states collect R x below, and spread C x above: q_j gains R(:, j), g_i gains
/// C(i, :)^T, and in the border p and h select. Cost: O(n (r + k)), Dense: O(n (r + k)^2) copies.
/// Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, BorderedKind<K>> bordered(const QuasiseparableView<T, K>& m,
                                            View<const T, 3> columns, View<const T, 3> rows,
                                            View<const T, 3> corner);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, BorderedKind<K>> bordered(const Quasiseparable<T, K>& m,
                                            const Array<T, 3>& columns, const Array<T, 3>& rows,
                                            const Array<T, 3>& corner) {
  return bordered<T, K>(m.view(), columns.view(), rows.view(), corner.view());
}

}  // namespace structmat::quasiseparable
