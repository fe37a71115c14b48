/// \file
/// Convolutions along sequences, in one direction or both, as sequence models use them.
///
///   causal          y_i = sum_{j <= i} f_{i-j} x_j
///   bidirectional   y_i = sum_{j <= i} f_{i-j} x_j + sum_{j > i} b_{j-i} x_j
///
/// x, y:     (batch, channels, L)
/// f, b:     (1 or batch, 1 or channels, taps), extent 1 is broadcast. Taps from L on are not read, and
///           neither is b_0. Absent taps are zero.
///
/// | here       | S4, S4D (bidirectional) | Hydra          |
/// |------------|-------------------------|----------------|
/// | f_l        | k0[l]                   | forward kernel |
/// | b_l, l > 0 | k1[l - 1]               | backward kernel |
///
/// Each channel is a Toeplitz matrix; sequences of a batch that share it are its right-hand sides.
#pragma once

#include "structmat/toeplitz/apply_vjp.hpp"

namespace structmat::toeplitz {

/// y := f * x. Any strides; x and y must not overlap. Cost, accuracy, threads: those of apply with
/// `channels` Toeplitz matrices. Throws ShapeError, DomainError (overlap).
template <Scalar T>
void convolve(const exec::cpu& e, View<const T, 3> forward, View<const T, 3> x, View<T, 3> y);

/// The same in both directions.
template <Scalar T>
void convolve(const exec::cpu& e, View<const T, 3> forward, View<const T, 3> backward,
              View<const T, 3> x, View<T, 3> y);

/// Reverse mode, dL = Re <y_bar, dy>: x_bar += ..., forward_bar_l += sum_{i-j=l} y_bar_i conj(x_j),
/// backward_bar_l += sum_{j-i=l} y_bar_i conj(x_j) for l > 0.
///
/// x, y_bar: (batch, channels, L) in; the cotangents have the shapes of f, b and x, in/out, and may be
/// absent (data() null); an extent 1 collects sums. They overlap no input and not each other. Pass an
/// empty backward kernel for a causal convolution. Cost: as apply_vjp. Throws ShapeError,
/// DomainError (overlap).
template <Scalar T>
void convolve_vjp(const exec::cpu& e, View<const T, 3> forward, View<const T, 3> backward,
                  View<const T, 3> x, View<const T, 3> y_bar, View<T, 3> forward_bar,
                  View<T, 3> backward_bar, View<T, 3> x_bar);

/// The same on a device, by transforms whatever the size: normwise accurate, as products with a
/// ToeplitzPlan, but without scaling: they overflow, or lose, where sums of moduli leave the range of
/// numbers. What is not finite in a sequence reaches all of its results, in a kernel all results of it.
///
/// Strides: any; results not with stride 0. Workspace: convolve_workspace_bytes, which also makes the
/// tables for this length that all calls on this device share: ask for it before a graph is captured.
/// Enqueued on e.stream; with that, neither allocates nor synchronises.
/// Cost: with L' the power of two from L on, a complex transform (complex numbers: two) of length L' each way
/// for every sequence, and one for every kernel in each call. Bytes: x and y once, kernels once, spectra of
/// kernels twice; for L' above 8192 (double: 4096) the spectra of sequences besides. 3 to 6 launches; where
/// kernels differ over batch and channels, and batch and channels of x are not evenly spaced, that many
/// for each of the batch.
/// Results repeat bitwise, and those of a sequence do not depend on the others.
/// Throws besides Unsupported (results with stride 0), DomainError (workspace), NotAvailable, BackendError.
template <Scalar T>
void convolve(const exec::cuda& e, View<const T, 3, space::cuda> forward,
              View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);
template <Scalar T>
void convolve(const exec::cuda& e, View<const T, 3, space::cuda> forward,
              View<const T, 3, space::cuda> backward, View<const T, 3, space::cuda> x,
              View<T, 3, space::cuda> y);

/// As on the host. An extent 1 of a cotangent collects sums in an order that depends on shapes alone.
/// Workspace: convolve_vjp_workspace_bytes.
template <Scalar T>
void convolve_vjp(const exec::cuda& e, View<const T, 3, space::cuda> forward,
                  View<const T, 3, space::cuda> backward, View<const T, 3, space::cuda> x,
                  View<const T, 3, space::cuda> y_bar, View<T, 3, space::cuda> forward_bar,
                  View<T, 3, space::cuda> backward_bar, View<T, 3, space::cuda> x_bar);

/// Bytes of workspace for kernels and sequences of these shapes; the causal call takes an empty backward
/// kernel. L' (complex: 2 L') complex numbers for every kernel, and up to 32 MiB for sequences; reverse mode:
/// 2 L numbers for every kernel more, and their spectra. Makes the tables. Throws ShapeError, NotAvailable,
/// BackendError.
template <Scalar T>
index_t convolve_workspace_bytes(View<const T, 3, space::cuda> forward,
                                 View<const T, 3, space::cuda> backward,
                                 View<const T, 3, space::cuda> x);
template <Scalar T>
index_t convolve_vjp_workspace_bytes(View<const T, 3, space::cuda> forward,
                                     View<const T, 3, space::cuda> backward,
                                     View<const T, 3, space::cuda> x);

}  // namespace structmat::toeplitz
