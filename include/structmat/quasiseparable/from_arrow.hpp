/// \file
/// Arrow matrices in generator form: a diagonal, one row and one column. Orders (1, 1).
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// Which row and column of an arrow matrix is full.
enum class ArrowHead { first, last };

/// M_ii = diagonal_i, M_hj = row_j, M_ih = column_i for h = 0 or n - 1, otherwise 0.
///
/// diagonal: (b or 1, n) in; row, column: (b or 1, n - 1) in (n = 0: 0), in the order of the
/// indices other than h, any strides. All transitions 1. Cost: 7 n numbers. Exact. Throws
/// ShapeError.
template <Scalar T>
Quasiseparable<T, transition::Scalar> from_arrow(View<const T, 2> diagonal, View<const T, 2> row,
                                                 View<const T, 2> column, ArrowHead head);

}  // namespace structmat::quasiseparable
