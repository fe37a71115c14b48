/// \file
/// Reverse mode of y = A x: cotangents of the nodes of a Vandermonde matrix, or of the logarithms of an
/// exponential sum, and of x.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat {

/// For y = op(V) x and a loss L with dL = Re <y_bar, dy>:
///   x_bar += op(V)^H y_bar,   node_bar_i += conj of sum_j j x_i^{j-1} times what V_ij multiplies.
///
/// m, x: as in apply; y_bar: the shape of y, in; node_bar: (batch or 1, m) in/out, x_bar: (batch or
/// 1, rows of x, k) in/out; either may be absent (data() null). A batch extent 1 beside a larger
/// batch collects the sum over the batch, which is the cotangent of broadcast data. node_bar and
/// x_bar overlap nothing.
/// Cost: two products. Workspace: two arrays like x and y. Threads: those of the products.
/// Accuracy: componentwise, |error| <= c (m + n + k) eps times the same sums of absolute values.
/// Throws ShapeError, and DomainError for overlaps; before anything is written.
/// Source: Griewank, Walther, "Evaluating Derivatives" (2008); d(x^j) = j x^{j-1} dx.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const VandermondeView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> node_bar, View<T, 3> x_bar);

/// The same for exponential sums, d exp(l a) = l exp(l a) da; a_bar: (batch or 1, r) in/out.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const LogVandermondeView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> a_bar, View<T, 3> x_bar);

/// Bytes of workspace for a batch of products with k columns each on the device.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const VandermondeView<T, space::cuda>& m, index_t batch,
                                  index_t k);
template <Scalar T>
index_t apply_vjp_workspace_bytes(const LogVandermondeView<T, space::cuda>& m, index_t batch,
                                  index_t k);

/// The same on the device: the two products into the workspace, whose numbers are then added in order to the
/// cotangents. Any strides, but cotangents must not be broadcast. No allocation, no synchronisation; results
/// repeat bit by bit. Accuracy: that of the products. Throws as apply on the device.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const VandermondeView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> node_bar, View<T, 3, space::cuda> x_bar);
template <Scalar T>
void apply_vjp(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> a_bar, View<T, 3, space::cuda> x_bar);

/// For x = op(V)^-1 b and b_bar = op(V)^-H x_bar, which a solver gives: the cotangent of op(V) is
/// -b_bar x^H, so that this is apply_vjp with y_bar = -b_bar.
///
/// x, b_bar: (batch, n, k) in. All else as in apply_vjp. Source: Giles, "Collected Matrix Derivative
/// Results" (2008), section 2.3.
template <Scalar T>
void solve_vjp(const exec::cpu& e, const VandermondeView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> b_bar, View<T, 2> node_bar);

}  // namespace structmat
