/// \file
/// The recurrence of SSD on P channels, in padded rows of a chunk of tokens:
///   S_t = decay_t S_{t-1} + q_t x_t^T,   y_t = S_t^T c_t     (S: states x channels),
/// and its reverse mode. Lanes run along the channels; a tile of four states stays in registers while the
/// tokens go by, so that a state costs three operations a token and no memory.
#pragma once

#include "core/simd.hpp"

namespace structmat::nn {

/// Tokens that are worked on together: the states between them are recomputed in reverse mode.
inline constexpr index_t chunk_tokens = 64;
inline constexpr index_t state_tile = 4;

template <RealScalar R>
inline constexpr index_t lanes = 64 / static_cast<index_t>(sizeof(R));

constexpr index_t padded(index_t n, index_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Rows of a chunk. Padding holds zeros.
template <RealScalar R>
struct SsdRows {
  index_t tokens;    ///< at most chunk_tokens
  index_t channels;  ///< a multiple of lanes<R>: the length of rows of x and y
  index_t states;    ///< a multiple of state_tile: the length of rows of q and c
  const R *x, *q, *c, *decay;
};

/// y += S_t^T c_t for the tokens of a chunk; s: (states, channels), from S_{-1} to the last S. y null: states only.
template <RealScalar R>
void sweep(const SsdRows<R>& rows, R* s, R* y);

/// Reverse mode of a chunk. s: S_{-1}, in. g: the cotangent of the last S, to that of S_{-1}. y_bar: rows
/// like y. Adds to x_bar and writes q_bar, c_bar (rows of states) and decay_bar = <cotangent of S_t, S_{t-1}>.
/// scratch: reverse_scratch<R> numbers, aligned to 64 bytes.
template <RealScalar R>
void reverse_sweep(const SsdRows<R>& rows, const R* s, const R* y_bar, R* g, R* x_bar, R* q_bar,
                   R* c_bar, R* decay_bar, R* scratch);
template <RealScalar R>
inline constexpr index_t reverse_scratch =
    chunk_tokens* state_tile*(4 * lanes<R> + 2 * lanes<R>)+chunk_tokens* lanes<R>;

}  // namespace structmat::nn
