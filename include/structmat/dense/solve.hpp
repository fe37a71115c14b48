/// \file
/// Small dense systems inside structured algorithms.
#pragma once

#include "structmat/core/exec.hpp"
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

/// The same on the device, through cuSOLVER.
///
/// a: (n, n) in, b: (n, k) in/out, any strides; no overlap. status: one number out, 0 or, counted from
/// 1, the first pivot that is exactly zero; b is unchanged then. Neither allocates nor synchronises;
/// workspace: solve_workspace_bytes, about n (n + k) numbers, asked for in the thread that calls. NaN
/// and Inf in a or b come out as such. Throws ShapeError, DomainError (overlap; workspace too small),
/// Unsupported (b broadcast), BackendError, NotAvailable. Source: getrf, getrs of cuSOLVER.
template <Scalar T>
void solve(const exec::cuda& e, View<const T, 2, space::cuda> a, View<T, 2, space::cuda> b,
           View<int, 1, space::cuda> status);
template <Scalar T>
index_t solve_workspace_bytes(View<const T, 2, space::cuda> a, index_t k);

}  // namespace structmat::dense
