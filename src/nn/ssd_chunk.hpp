/// \file
/// A chunk of SSD as products of small matrices, on P channels in padded rows. What is computed is
///   S_t = decay_t S_{t-1} + q_t x_t^T,   y_t = S_t^T c_t     (S: states x channels),
/// as Y = diag(l) C S_{-1} + (C Q^T o L) X and S = l_last S_{-1} + Q^T diag(last row of L) X, where
/// L_ij = decay_{j+1} ... decay_i, i >= j, and l_i = decay_0 ... decay_i; and its reverse mode.
#pragma once

#include "core/simd.hpp"
#include "structmat/core/array.hpp"

namespace structmat::nn {

/// Tokens of a chunk: the states between chunks are what reverse mode keeps.
inline constexpr index_t chunk_tokens = 64;
/// Rows of results that are computed together.
inline constexpr index_t tile_rows = 4;

template <RealScalar R>
inline constexpr index_t lanes = 64 / static_cast<index_t>(sizeof(R));

constexpr index_t padded(index_t n, index_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Rows of a chunk. Padding holds zeros, also of rows of x, q and c up to a multiple of tile_rows; decay is 1
/// there.
template <RealScalar R>
struct SsdRows {
  index_t tokens;    ///< at most chunk_tokens
  index_t channels;  ///< a multiple of lanes<R>: the length of rows of x and y
  index_t states;    ///< a multiple of lanes<R>: the length of rows of q and c
  const R *x, *q, *c, *decay;
};

/// The product of two padded rows.
template <RealScalar R>
R dot(const R* a, const R* b, index_t width) {
  using V = simd::Vector<R, lanes<R>>;
  V sum = {};
  for (index_t i = 0; i < width; i += lanes<R>) sum += simd::load<V>(a + i) * simd::load<V>(b + i);
  return simd::sum<R, lanes<R>>(sum);
}

/// Scratch memory of one thread, and what is done in it. Rows of results have room for chunk_tokens; those of
/// padding are overwritten.
template <RealScalar R>
class SsdChunk {
 public:
  SsdChunk(index_t channels, index_t states);

  /// y := S_t^T c_t for the tokens of a chunk; s: (states, channels), from S_{-1} to the last S.
  void apply(const SsdRows<R>& rows, R* s, R* y);
  /// The last S alone.
  void advance(const SsdRows<R>& rows, R* s);
  /// Reverse mode. s: S_{-1}, in. g: the cotangent of the last S, to that of S_{-1}. y_bar: rows like y, zeros in
  /// the padding. Sets x_bar, q_bar, c_bar and the cotangents of log decay_t.
  void reverse(const SsdRows<R>& rows, const R* s, const R* y_bar, R* g, R* x_bar, R* q_bar,
               R* c_bar, R* log_bar);

  /// Views of the scratch memory for the leaf loops.
  struct Space {
    R *decays, *scores, *slopes;               // (chunk_tokens, chunk_tokens)
    R *q_transposed, *x_transposed;            // (states or channels, chunk_tokens)
    R *s_transposed, *g_transposed;            // (channels, states)
    R* weighted;                               // (chunk_tokens, channels)
    R *from_front, *to_end, *c_dots, *q_dots;  // (chunk_tokens)
  };

 private:
  Space space();

  Array<R, 3> squares_;
  Array<R, 2> q_, x_, s_, g_, weighted_, rows_;
};

}  // namespace structmat::nn
