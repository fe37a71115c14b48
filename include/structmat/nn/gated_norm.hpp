/// \file
/// Root-mean-square normalisation in groups of channels, with a gate before or behind it.
///
/// Definition, for one row and one group of g channels, r(u) = (mean of u^2 over the group + eps)^(-1/2):
///   Gate::after   y = w x r(x) silu(z)                   (the norm comes first: Hydra)
///   Gate::before  y = w u r(u),  u = x silu(z)           (the gate comes first: Mamba-2)
/// Without z: y = w x r(x).
/// Source: Zhang, Sennrich, "Root mean square layer normalization" (2019).
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/export.hpp"
#include "structmat/core/view.hpp"
#include "structmat/nn/storage.hpp"

namespace structmat::nn {

enum class Gate { after, before };

struct GatedNormOptions {
  Gate gate = Gate::after;
  double epsilon = 1e-5;
  index_t group = 0;       ///< channels of a group; 0: all
  bool accumulate = true;  ///< reverse mode: cotangents are added to; false: set
};

/// y := the normalised rows of x.
///
/// x, z, y: (rows, channels), z absent (data() null): no gate; w: (channels), absent: ones. y may be x or z itself, and
/// else overlaps no input. Strides are free, y not broadcast. Cost: 8 operations a number; x and z are read once. Sums
/// over a group are in double. Threads: over rows; the result does not depend on their number.
/// Accuracy: relative, a few eps of compute_t<T>, rounded once to T.
/// Throws ShapeError (also where the group does not divide the channels), DomainError (overlap, epsilon < 0).
template <Storage T>
void gated_norm(const exec::cpu& e, View<const T, 2> x, View<const T, 2> z,
                View<const compute_t<T>, 1> w, const GatedNormOptions& options, View<T, 2> y);

/// Reverse mode: adds to x_bar, z_bar, w_bar, each of which may be absent (data() null), the cotangents for y_bar.
/// Cotangents overlap nothing. Sums over rows for w are in double, in an order that depends on shapes alone.
/// Throws as gated_norm.
template <Storage T>
void gated_norm_vjp(const exec::cpu& e, View<const T, 2> x, View<const T, 2> z,
                    View<const compute_t<T>, 1> w, const GatedNormOptions& options,
                    View<const T, 2> y_bar, View<T, 2> x_bar, View<T, 2> z_bar,
                    View<compute_t<T>, 1> w_bar);

/// The same on the device, for T = float and bf16. Neither allocates nor synchronises, and needs no workspace; one launch.
///
/// Any strides. Rows stay in registers between the sum and its use where the group, pointers and strides are whole
/// vectors of 16 bytes and a group has at most 16 KiB; else they are read twice, number by number.
/// Cost: x and z are read and y is written once, 3 rows channels sizeof(T) bytes.
/// Accuracy: as on the CPU, sums over a group in float: squares beyond its range overflow. Throws Unsupported also for
/// a y with stride 0.
template <Storage T>
void gated_norm(const exec::cuda& e, View<const T, 2, space::cuda> x,
                View<const T, 2, space::cuda> z, View<const compute_t<T>, 1, space::cuda> w,
                const GatedNormOptions& options, View<T, 2, space::cuda> y);
template <Storage T>
index_t gated_norm_workspace_bytes(View<const T, 2, space::cuda> x,
                                   const GatedNormOptions& options);

/// Reverse mode on the device; what is said above holds, with bytes of workspace by gated_norm_vjp_workspace_bytes and a
/// second launch for w_bar, whose sums over rows are in float within a part of the rows and in double over those,
/// in an order that depends on shapes and on the alignment of operands alone.
/// Cost: x, z and y_bar are read, x_bar and z_bar are written once, 5 rows channels sizeof(T) bytes.
template <Storage T>
void gated_norm_vjp(const exec::cuda& e, View<const T, 2, space::cuda> x,
                    View<const T, 2, space::cuda> z, View<const compute_t<T>, 1, space::cuda> w,
                    const GatedNormOptions& options, View<const T, 2, space::cuda> y_bar,
                    View<T, 2, space::cuda> x_bar, View<T, 2, space::cuda> z_bar,
                    View<compute_t<T>, 1, space::cuda> w_bar);
template <Storage T>
index_t gated_norm_vjp_workspace_bytes(View<const T, 2, space::cuda> x,
                                       const GatedNormOptions& options);

}  // namespace structmat::nn
