/// \file
/// Short convolutions, one filter a channel, along the tokens of a sequence.
///
/// Definition, for one channel with taps w_0 ... w_{W-1}, `ahead` taps of which are in front of the token:
///   y_t = f(b + sum_j w_j x_{t - (W - 1 - ahead) + j}),   f(v) = v or silu(v),
/// where x is 0 outside its sequence, or in front of it what `initial_state` holds. ahead = 0 is causal, ahead = (W - 1) / 2
/// centred. The last tap of a causal filter is that of the token itself.
///
/// | operand | shape | |
/// |---|---|---|
/// | x, y | (batch, L, C) | |
/// | weight | (C, W) | 1 <= W <= 8 |
/// | bias | (C) | absent: 0 |
/// | states | (sequences, C, W - 1) | the last W - 1 inputs, the latest one last; causal filters only |
///
/// Packed sequences do not see each other.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/export.hpp"
#include "structmat/nn/packing.hpp"
#include "structmat/nn/storage.hpp"

namespace structmat::nn {

enum class Activation { none, silu };

/// The filters of all channels.
template <Storage T, class Space = space::host>
struct Conv1dView {
  using R = compute_t<T>;
  View<const R, 2, Space> weight;
  View<const R, 1, Space> bias{};  ///< data() null: 0
  index_t ahead = 0;
  Activation activation = Activation::none;
  Starts<Space> starts{};  ///< not empty: batch is 1, and states are one a sequence
};

template <Storage T, class Space = space::host>
struct Conv1dInput {
  View<const T, 3, Space> x;
  View<const compute_t<T>, 3, Space> initial_state{};  ///< data() null: zero
};

template <Storage T, class Space = space::host>
struct Conv1dOutput {
  View<T, 3, Space> y;
  View<compute_t<T>, 3, Space> final_state{};  ///< data() null: not wanted
};

/// Cotangents, added to or set; data() null: not wanted.
template <Storage T, class Space = space::host>
struct Conv1dCotangent {
  using R = compute_t<T>;
  View<T, 3, Space> x{};
  View<R, 2, Space> weight{};
  View<R, 1, Space> bias{};
  View<R, 3, Space> initial_state{};
  bool accumulate = true;  ///< false: cotangents are set
};

/// y := the convolved x, and the final states, which mix older states with inputs where a sequence is shorter than
/// the filter. y and final_state overlap nothing, but final_state may be initial_state: then the state advances in place.
/// Strides are free, y not broadcast.
/// Cost: 2 W operations a number. Threads: over sequences; the result does not depend on their number.
/// Accuracy: componentwise, W eps; bf16 is rounded once.
/// Throws ShapeError; DomainError (overlap, starts, ahead outside 0 ... W - 1, states of a filter that looks ahead);
/// before anything is written.
template <Storage T>
void apply(const exec::cpu& e, const Conv1dView<T>& m, const Conv1dInput<T>& in,
           const Conv1dOutput<T>& out);

/// Reverse mode: adds to `bar` the cotangents for those of y and of the final states (data() null: 0), both in. Sums over
/// tokens for weight and bias are in double, in an order that depends on shapes alone. Throws as apply.
template <Storage T>
void apply_vjp(const exec::cpu& e, const Conv1dView<T>& m, const Conv1dInput<T>& in,
               View<const T, 3> y_bar, View<const compute_t<T>, 3> final_state_bar,
               const Conv1dCotangent<T>& bar);

/// The same on the device, for T = float and bf16. Neither allocates nor synchronises; bytes of workspace by
/// apply_workspace_bytes, which is 0 unless sequences are packed.
///
/// Any strides; vectors of 16 bytes where channels lie together and they, the strides and the pointers of x and y are
/// multiples of that, else number by number. Nothing is read from `starts` on the host: what is out of order or out of
/// range there is moved into it. One launch; with a table of packed sequences, or final states of sequences of more than 32
/// tokens, one more for each. A sequence's results do not depend on the others, packed or not, nor on the device.
/// Cost: x is read and y is written once, 2 L C sizeof(T) bytes a sequence.
/// Accuracy: as on the CPU, in float, for silu 4 eps more. Throws Unsupported also for results with stride 0.
template <Storage T>
void apply(const exec::cuda& e, const Conv1dView<T, space::cuda>& m,
           const Conv1dInput<T, space::cuda>& in, const Conv1dOutput<T, space::cuda>& out);
template <Storage T>
index_t apply_workspace_bytes(const Conv1dView<T, space::cuda>& m,
                              const Conv1dInput<T, space::cuda>& in);

/// Reverse mode on the device; what is said above holds. Sums for weight and bias: in float within some hundred tokens
/// of a block, in double over blocks, in an order that depends on shapes alone. Sums before silu are computed again.
/// Cost: x and y_bar are read and the cotangent of x is written once, 3 L C sizeof(T) bytes a sequence.
/// Throws Unsupported also where the cotangent of x overlaps y_bar, or that of initial_state final_state_bar.
template <Storage T>
void apply_vjp(const exec::cuda& e, const Conv1dView<T, space::cuda>& m,
               const Conv1dInput<T, space::cuda>& in, View<const T, 3, space::cuda> y_bar,
               View<const compute_t<T>, 3, space::cuda> final_state_bar,
               const Conv1dCotangent<T, space::cuda>& bar);
template <Storage T>
index_t apply_vjp_workspace_bytes(const Conv1dView<T, space::cuda>& m,
                                  const Conv1dInput<T, space::cuda>& in);

}  // namespace structmat::nn
