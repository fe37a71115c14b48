/// \file
/// States in front of the chunks of recurrences of SSD, and cotangents of those behind them.
///
/// For one head and a chunk of Q tokens in the order of the recurrence, l the inclusive sums of binary
/// logarithms of decays, u_j of P numbers and v_j of N:
///   S' = 2^(l_Q) S + sum_j w_j u_j v_j^T
/// with w_j = Delta_j 2^(l_Q - l_j), chunk after chunk, for states (u = x, v = B); and with w_j = 2^(l_j), from the
/// last chunk to the first one, for cotangents of states (u = ybar, v = C).
/// Sequences of more than segment_chunks chunks are cut into segments: the state behind a segment is affine in that in
/// front of it, S' = 2^lambda S + E, and the pairs (lambda, E) of all segments are found at the same time, combined in
/// order, and walked from again. How a sequence is cut depends on its own length alone.
#pragma once

#include <span>

#include "core/workspace.cuh"
#include "nn/decays.cuh"
#include "nn/tokens.cuh"

namespace structmat::gpu::nn {

constexpr index_t segment_chunks = 64;

/// Rows and columns of states in memory.
constexpr index_t padded_extent(index_t extent) {
  return (extent + 15) / 16 * 16;
}

/// One recurrence. Batches of operands are broadcast.
template <class T>
struct StateWalk {
  template <class U, int Rank>
  using Operand = View<U, Rank, space::cuda>;

  Operand<const T, 4> u;               ///< (batch, L, H, P)
  Operand<const T, 4> v;               ///< (batch, L, G, N)
  Operand<const T, 3> dt;              ///< (batch, L, H)
  Operand<const float, 1> a, dt_bias;  ///< dt_bias null: 0
  StepRule rule;
  bool backward = false;   ///< the recurrence runs from the last token of a sequence to the first
  bool cotangent = false;  ///< cotangents of states: walks against the recurrence
  /// u of a token is that of the next one in the order of the recurrence, zero behind the last one.
  bool shifted = false;
  Operand<const float, 4>
      initial{};             ///< (sequences, H, P, N) what the walk starts from; null: zero
  Operand<float, 4> last{};  ///< what it ends with; null: not wanted. May be `initial`
  bool accumulate = false;   ///< `last` is added to
  /// (slots, H, P', N'), P and N rounded up to 16, columns beyond N are zero: what is met in front of each chunk
  /// in the order of the walk. Null: not wanted
  T* states = nullptr;
};

/// Numbers of the affine maps of segments of one walk; 0 where no sequence can be cut.
index_t segment_numbers(const Tokens& tokens, index_t heads, index_t channels, index_t states);

/// Enqueues up to four walks over the same tokens at the same time. segments: segment_numbers() for each walk.
template <class T>
void walk_states(const char* operation, cudaStream_t stream, const Tokens& tokens,
                 std::span<const StateWalk<T>> walks, float* segments);

}  // namespace structmat::gpu::nn
