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

}  // namespace structmat::toeplitz
