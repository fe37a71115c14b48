/// \file
/// BLAS under the library's names: one overload set for the four scalar types, on views.
#pragma once

#include <string>

#include "structmat/core/exec.hpp"
#include "structmat/core/export.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/view.hpp"

namespace structmat::dense {

/// C := alpha op(A) op(B) + beta C.
///
/// A, B in, C in/out; each has unit stride in one of its two dimensions (C in its last). beta = 0
/// does not read C. No overlap of C with A or B. Cost: 2 m n k flops. Threads: those of the BLAS.
/// Throws ShapeError, Unsupported (strides).
template <Scalar T>
void gemm(Op op_a, Op op_b, T alpha, View<const T, 2> a, View<const T, 2> b, T beta, View<T, 2> c);

/// The same on the device, through cuBLAS, also for vectors (one column).
///
/// Neither allocates nor synchronises; workspace: gemm_workspace_bytes, asked for in the thread that
/// calls. Strides as above, but the adjoint of a complex A or B needs it row-major. Throws ShapeError,
/// DomainError (overlap; workspace too small), Unsupported (strides), BackendError, NotAvailable.
template <Scalar T>
void gemm(const exec::cuda& e, Op op_a, Op op_b, T alpha, View<const T, 2, space::cuda> a,
          View<const T, 2, space::cuda> b, T beta, View<T, 2, space::cuda> c);
template <Scalar T>
index_t gemm_workspace_bytes();

/// y := alpha op(A) x + beta y. Strides as in gemm for A, any for x and y (but 0). Throws as gemm.
template <Scalar T>
void gemv(Op op, T alpha, View<const T, 2> a, View<const T, 1> x, T beta, View<T, 1> y);

/// B := op(A)^-1 B for a triangular A, of which the other triangle is not read.
///
/// a: (n, n) in, b: (n, k) in/out, both row-major; no overlap. Cost: n^2 k flops. Accuracy:
/// backward stable by columns. A zero on the diagonal gives Inf or NaN. Throws ShapeError,
/// Unsupported (strides).
enum class Triangle { lower, upper };
template <Scalar T>
void triangular_solve(Triangle triangle, Op op, View<const T, 2> a, View<T, 2> b);

/// The kernel set that OpenBLAS runs here ("SkylakeX", ...); empty for another BLAS.
STRUCTMAT_EXPORT std::string blas_core();
/// Threads that BLAS uses; 0 if it cannot tell.
STRUCTMAT_EXPORT int blas_threads();

}  // namespace structmat::dense
