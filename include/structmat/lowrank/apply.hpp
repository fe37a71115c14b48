/// \file
/// y := M x, y := M^T x and y := M^H x for M = U V^T. The calls without Op are in core/apply.hpp.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/lowrank/low_rank.hpp"

namespace structmat {

/// y_b := op(M_b) x_b for each batch entry b.
///
/// x: (batch, n, k) in; y: (batch, m, k) out, m and n exchanged for the transpose; any strides; a
/// batch extent 1 of M or x is broadcast. x and y must not overlap.
/// Cost: 2 (m + n) r k flops in two products by BLAS, reading U and V once. Workspace: r k, and
/// copies of what is not row-major (adjoint of complex data: of x and y).
/// Threads: those of the BLAS.
/// Accuracy: componentwise, |error| <= c (n + r) eps |U| |V|^T |x|. NaN and Inf of a row of U reach
/// the output of that row only; those of V and x reach all outputs.
/// Throws ShapeError, and DomainError for overlapping operands; before anything is written.
template <Scalar T>
void apply(const exec::cpu& e, const LowRankView<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

}  // namespace structmat
