/// \file
/// Small dense systems inside structured algorithms.
#pragma once

#include "structmat/core/export.hpp"
#include "structmat/core/status.hpp"
#include "structmat/core/view.hpp"

namespace structmat::dense {

/// B := A^-1 B, by Gaussian elimination with partial pivoting.
///
/// a: (n, n) in; b: (n, k) in/out; any strides; no overlap. Returns the first pivot that is exactly
/// zero (kind zero), b is unchanged then. Cost: 2/3 n^3 + 2 n^2 k flops, workspace n (n + k).
/// Accuracy: backward stable but for growth, which is small in practice. Throws ShapeError,
/// Unsupported (n beyond 32 bits). Source: LAPACK gesv.
template <Scalar T>
PivotStatus solve(View<const T, 2> a, View<T, 2> b);

}  // namespace structmat::dense
