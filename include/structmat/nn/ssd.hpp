/// \file
/// SSD, the semiseparable mixer of Mamba-2: one scalar transition a head and token, made of the data.
///
/// Definition, for one batch entry and head with P channels and N states, t = 0 ... L - 1:
///   Delta_t = clamp(softplus(dt_t + dt_bias), dt_min, dt_max)
///   S_t = exp(Delta_t a) S_{t-1} + Delta_t x_t B_t^T          (P x N, S_{-1} given or zero)
///   y_t = (S_t C_t + D x_t) * silu(z_t)                       (elementwise in P)
/// so that, without z and S_{-1}, y = M x with the N-semiseparable matrix
///   M_ij = C_i . B_j Delta_j exp(a sum_{j < k <= i} Delta_k) + D [i = j],   i >= j.
///
/// | operand | shape | |
/// |---|---|---|
/// | x, z, y | (batch, L, H, P) | H heads of P channels |
/// | dt | (batch, L, H) | raw step, before bias and softplus |
/// | a | (H) | log-decay a unit of Delta, <= 0 |
/// | B, C | (batch, L, G, N) | G groups, G divides H; head h reads group h / (H / G) |
/// | D | (H, P), stride 0 along P for one a head | |
/// | states | (sequences, H, P, N) | |
///
/// Cost: O(L (N P + Q (N + P))) a head in chunks of Q tokens.
/// Notation of the literature: Dao, Gu, "Transformers are SSMs" (2024), section 6: A = a, the same letters.
#pragma once

#include <limits>

#include "structmat/core/exec.hpp"
#include "structmat/core/export.hpp"
#include "structmat/nn/packing.hpp"
#include "structmat/nn/storage.hpp"

namespace structmat::nn {

/// The matrix of SSD as views of what it is made of. T: storage of what the data make; parameters, states
/// and their cotangents are compute_t<T>.
template <Storage T, class Space = space::host>
struct SsdView {
  using R = compute_t<T>;
  View<const T, 3, Space> dt;
  View<const R, 1, Space> a;
  View<const T, 4, Space> b, c;
  View<const R, 2, Space> d{};        ///< data() null: 0
  View<const R, 1, Space> dt_bias{};  ///< data() null: 0
  bool softplus = true;
  R dt_min = 0, dt_max = std::numeric_limits<R>::infinity();
  Starts<Space> starts{};  ///< not empty: batch is 1, and states are one a sequence
};

/// What it is applied to.
template <Storage T, class Space = space::host>
struct SsdInput {
  View<const T, 4, Space> x;
  View<const T, 4, Space> z{};                         ///< data() null: no gate
  View<const compute_t<T>, 4, Space> initial_state{};  ///< data() null: zero
};

template <Storage T, class Space = space::host>
struct SsdOutput {
  View<T, 4, Space> y;
  View<compute_t<T>, 4, Space> final_state{};  ///< data() null: not wanted
};

/// Cotangents, added to or set; data() null: not wanted. A stride 0 sums over that extent.
template <Storage T, class Space = space::host>
struct SsdCotangent {
  using R = compute_t<T>;
  View<T, 4, Space> x{}, z{};
  View<T, 3, Space> dt{};
  View<R, 1, Space> a{};
  View<T, 4, Space> b{}, c{};
  View<R, 2, Space> d{};
  View<R, 1, Space> dt_bias{};
  View<R, 4, Space> initial_state{};
  bool accumulate = true;  ///< false: cotangents are set
};

/// y := SSD(x), and the final states. Shapes: the file's head. The batch extent of x rules; others may be 1 and
/// are broadcast. y and final_state overlap nothing, but final_state may be initial_state: then the state
/// advances in place, and one token at a time is a step of a decoder. Strides are free; y not broadcast.
/// Packed (starts not empty): batch is 1, states are one a sequence; an empty sequence hands its state on.
/// Cost: 6 L N P operations a head; memory: O(N P) and a chunk of rows a thread. Threads: over batch or
/// sequences, and heads. The result does not depend on their number, bit for bit.
/// Accuracy: componentwise, |error| <= c L eps times the sums of absolute values, whatever Delta a is: decays
/// are multiplied, exponents never added. bf16: computed in float, y rounded once.
/// Throws ShapeError, DomainError (overlap; starts that decrease or do not cover L); before anything is
/// written.
/// Source: Dao, Gu (2024), section 3.
template <Storage T>
void apply(const exec::cpu& e, const SsdView<T>& m, const SsdInput<T>& in, const SsdOutput<T>& out);

/// Reverse mode: adds to `bar` the cotangents for those of y and of the final states (data() null: 0), both in.
/// Shapes: those of what they belong to. Where the batch extent of an operand is 1, that of its cotangent
/// is 1 too and collects the sum.
/// States are computed again from the initial ones.
/// Cost: about 5 times apply; memory: states at every 64th token of one head a thread, and L N numbers a
/// head for the sums over heads of a group.
/// Accuracy: componentwise. bf16: each cotangent is rounded once, and added to in float.
/// Throws as apply.
template <Storage T>
void apply_vjp(const exec::cpu& e, const SsdView<T>& m, const SsdInput<T>& in,
               View<const T, 4> y_bar, View<const compute_t<T>, 4> final_state_bar,
               const SsdCotangent<T>& bar);

/// The same on the device, for T = float and bf16. Neither allocates nor synchronises; workspace by
/// apply_workspace_bytes.
///
/// Two launches: states in front of chunks of 64 tokens, then all chunks at once; packed sequences take one more, sequences of more
/// than 4096 tokens two. Any strides; vectors of 16 bytes where rows lie together and they, the strides and the pointers are
/// multiples of that, else number by number. Nothing is read from `starts` on the host: what is out of order or out of range there is
/// moved into it. A sequence's results do not depend on the others, packed or not.
/// Cost: x is read twice and y written once, and states of every 64th token are written and read in T: (3 P + 2 P N / 64)
/// sizeof(T) bytes a token and head. Workspace: P N / 64 numbers of T a token and head.
/// Accuracy: normwise over the tokens of a chunk. bf16: entries of a chunk's matrix and states in front of chunks are rounded to
/// bf16, sums are in float. float: products in three parts of tf32, |error| a few eps of the sums of absolute values. A
/// NaN or infinity of x spreads over its 16 tokens, also to those in front.
/// Throws Unsupported for more than 256 states, and for a y with stride 0.
template <Storage T>
void apply(const exec::cuda& e, const SsdView<T, space::cuda>& m,
           const SsdInput<T, space::cuda>& in, const SsdOutput<T, space::cuda>& out);
template <Storage T>
index_t apply_workspace_bytes(const SsdView<T, space::cuda>& m, const SsdInput<T, space::cuda>& in);

/// Reverse mode on the device, for T = float and bf16. Neither allocates nor synchronises; workspace by
/// apply_vjp_workspace_bytes.
///
/// Two launches, and one for the cotangents of parameters: states in front of chunks of 64 tokens and
/// cotangents of those behind them, then all chunks at once. A gate takes two more, packed and long sequences what
/// they take in apply. Strides as in apply. Sums over tokens and heads are in a fixed order; what a sequence's
/// cotangents are does not depend on the others.
/// Cost: x and y_bar are read twice, the cotangent of x is written once, and states of every 64th token and their
/// cotangents are written and read in T. Workspace: 2 P N / 64 numbers of T a token and head, P / 64 of float, and
/// P of T with a gate.
/// Accuracy: normwise over the tokens of a chunk, as apply; no sum of the cotangents of dt and a cancels. bf16: also the
/// cotangent of C_i . B_j, summed over heads, is rounded to bf16. With more than 128 states (float: 64) the
/// cotangents of x and dt are rounded once every 128 (64).
/// Throws as apply, and Unsupported for cotangents with a stride 0 (but D's along P, which is the sum), those
/// of operands that are broadcast over the batch, and those that overlap y_bar.
template <Storage T>
void apply_vjp(const exec::cuda& e, const SsdView<T, space::cuda>& m,
               const SsdInput<T, space::cuda>& in, View<const T, 4, space::cuda> y_bar,
               View<const compute_t<T>, 4, space::cuda> final_state_bar,
               const SsdCotangent<T, space::cuda>& bar);
template <Storage T>
index_t apply_vjp_workspace_bytes(const SsdView<T, space::cuda>& m,
                                  const SsdInput<T, space::cuda>& in);

}  // namespace structmat::nn
