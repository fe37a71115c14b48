/// \file
/// The selective scan of Mamba: every channel has a diagonal recurrence of its own, made of the data.
///
/// Definition, for one batch entry and channel with N states, t = 0 ... L - 1, a in R^N or C^N:
///   Delta_t = clamp(softplus(delta_t + delta_bias), delta_min, delta_max)
///   h_t = alpha_t h_{t-1} + beta_t u_t                      (elementwise in N, h_{-1} given or zero)
///   y_t = (s Re sum_n c_{t,n} h_{t,n} + d u_t) silu(z_t)    (s = 1 for real a; 2 for complex, one of each pair)
/// with
///   Hold::euler   alpha = exp(Delta a),  beta = Delta b     (Mamba)
///   Hold::zero    alpha = exp(Delta a),  beta = (exp(Delta a) - 1) / a b,  Delta b where a = 0
///   Hold::first   alpha = 1 + Delta a,   beta = Delta b     (may be singular: Delta a = -1 forgets all)
/// so that, without z, y = M u with an N-semiseparable M of each channel.
///
/// | operand | shape | |
/// |---|---|---|
/// | u, z, delta, y | (batch, L, D) | |
/// | a | (D, N) | |
/// | b, c | (D, N), or of the data (batch, L, G, N) | G groups, channel i reads group i / (D / G); no conjugate |
/// | d, delta_bias | (D) | |
/// | states | (sequences, D, N) | |
///
/// Source: Gu, Dao, "Mamba" (2023), section 3; the first-order form is I - Delta W of preliminaries with a = -w.
#pragma once

#include <complex>
#include <limits>

#include "structmat/core/exec.hpp"
#include "structmat/core/export.hpp"
#include "structmat/nn/packing.hpp"
#include "structmat/nn/storage.hpp"

namespace structmat::nn {

enum class Hold { euler, zero, first };

/// What b and c are stored in when they are of the data: the storage of activations, or complex numbers.
template <Storage T, class S>
using selected_t = std::conditional_t<is_complex_v<S>, S, T>;

/// b or c: one of the two is set.
template <Storage T, class S, class Space = space::host>
struct Selected {
  View<const S, 2, Space> constant{};
  View<const selected_t<T, S>, 4, Space> varying{};
};

/// S: compute_t<T> or std::complex of it.
template <Storage T, class S = compute_t<T>, class Space = space::host>
struct SelectiveScanView {
  using R = compute_t<T>;
  View<const T, 3, Space> delta;
  View<const S, 2, Space> a;
  Selected<T, S, Space> b, c;
  View<const R, 1, Space> d{};           ///< data() null: 0
  View<const R, 1, Space> delta_bias{};  ///< data() null: 0
  Hold hold = Hold::euler;
  bool softplus = true;
  R delta_min = 0, delta_max = std::numeric_limits<R>::infinity();
  Starts<Space> starts{};  ///< not empty: batch is 1, and states are one a sequence
};

template <Storage T, class S = compute_t<T>, class Space = space::host>
struct SelectiveScanInput {
  View<const T, 3, Space> u;
  View<const T, 3, Space> z{};              ///< data() null: no gate
  View<const S, 3, Space> initial_state{};  ///< data() null: zero
};

template <Storage T, class S = compute_t<T>, class Space = space::host>
struct SelectiveScanOutput {
  View<T, 3, Space> y;
  View<S, 3, Space> final_state{};  ///< data() null: not wanted
};

/// Cotangents, added to or set; data() null: not wanted. Complex ones as everywhere: dL = Re <bar, d.>.
template <Storage T, class S = compute_t<T>, class Space = space::host>
struct SelectiveScanCotangent {
  using R = compute_t<T>;
  View<T, 3, Space> u{}, z{}, delta{};
  View<S, 2, Space> a{}, b{}, c{};  ///< b, c: of the constant ones
  View<selected_t<T, S>, 4, Space> b_varying{}, c_varying{};
  View<R, 1, Space> d{}, delta_bias{};
  View<S, 3, Space> initial_state{};
  bool accumulate = true;  ///< false: cotangents are set
};

/// y := the scan of u, and the final states. y and final_state overlap nothing, but final_state may be initial_state: then
/// the state advances in place. Strides are free, y not broadcast.
/// Cost: 6 L N operations and L N exponentials a channel (complex: four times). Threads: over sequences and channels; the
/// result does not depend on their number.
/// Accuracy: componentwise, L eps; bf16 is computed in float and rounded once.
/// Throws ShapeError (also where b or c is given twice or not at all), DomainError (overlap, starts); before anything is
/// written.
template <Storage T, class S>
void apply(const exec::cpu& e, const SelectiveScanView<T, S>& m, const SelectiveScanInput<T, S>& in,
           const SelectiveScanOutput<T, S>& out);

/// Reverse mode: adds to `bar` the cotangents for those of y and of the final states (data() null: 0), both in.
/// Cost: about 5 times apply; memory: 3 L N numbers a channel in progress. Sums over tokens and channels have an order that
/// depends on shapes alone. Throws as apply.
template <Storage T, class S>
void apply_vjp(const exec::cpu& e, const SelectiveScanView<T, S>& m,
               const SelectiveScanInput<T, S>& in, View<const T, 3> y_bar,
               View<const S, 3> final_state_bar, const SelectiveScanCotangent<T, S>& bar);

/// The same on the device, for T = float and bf16. Neither allocates nor synchronises; bytes of workspace by
/// apply_workspace_bytes, which is 0 unless sequences are packed.
///
/// At most 256 states. Any strides; four channels at a time where they lie together and their number (in a group too), the
/// strides and the pointers of u, z, delta and y are multiples of four elements, else number by number. Nothing is read
/// from `starts` on the host: what is out of order or out of range there is moved into it. One launch, packed two. A
/// sequence's results do not depend on the others, packed or not, nor on the device.
/// Cost: u, z and delta are read and y is written once; L N exponentials a channel, 2^x by the special-function units.
/// Accuracy: as on the CPU, in float, with exponentials and silu to 4 eps. States whose decays are below 2^-126 are 0.
/// Throws Unsupported also for results with stride 0.
template <Storage T, class S>
void apply(const exec::cuda& e, const SelectiveScanView<T, S, space::cuda>& m,
           const SelectiveScanInput<T, S, space::cuda>& in,
           const SelectiveScanOutput<T, S, space::cuda>& out);
template <Storage T, class S>
index_t apply_workspace_bytes(const SelectiveScanView<T, S, space::cuda>& m,
                              const SelectiveScanInput<T, S, space::cuda>& in);

/// Reverse mode on the device; what is said above holds. States are computed again and kept in the workspace every eighth
/// token (fewer with more than 16 states or complex ones): L N / 8 numbers of S a channel. Sums over channels for b and c of
/// the data: in blocks of channels, in float, kept for every token (about L N D / 64 numbers each), then over blocks in
/// order; sums over tokens for parameters: in float within a sequence, over sequences in double.
/// Throws Unsupported also for cotangents with stride 0, or where one overlaps y_bar or final_state_bar.
template <Storage T, class S>
void apply_vjp(const exec::cuda& e, const SelectiveScanView<T, S, space::cuda>& m,
               const SelectiveScanInput<T, S, space::cuda>& in, View<const T, 3, space::cuda> y_bar,
               View<const S, 3, space::cuda> final_state_bar,
               const SelectiveScanCotangent<T, S, space::cuda>& bar);
template <Storage T, class S>
index_t apply_vjp_workspace_bytes(const SelectiveScanView<T, S, space::cuda>& m,
                                  const SelectiveScanInput<T, S, space::cuda>& in);

}  // namespace structmat::nn
