/// \file
/// Reverse mode of a recurrence of SSD in all chunks at once, from the states in front of them and the
/// cotangents of those behind them.
///
/// For one head and one chunk of Q tokens i, j in the order of the recurrence, l the inclusive sums of binary
/// logarithms of decays, L_ij = 2^(l_i - l_j) for i >= j and else 0, S the state in front, D the cotangent
/// of the one behind, w_j = Delta_j 2^(l_Q - l_j), G = C B^T, E_ij = (ybar_i . x_j), U = E o G o L:
///   xbar_j  = sum_i G_ij L_ij Delta_j ybar_i + w_j D B_j + d ybar_j
///   Bbar_j  = sum_i Gbar_ij C_i + w_j D^T x_j,   Gbar_ij = sum over heads of E_ij L_ij Delta_j
///   Cbar_i  = sum_j Gbar_ij B_j + 2^(l_i) S^T ybar_i
///   deltabar_j = sum_i U_ij + 2^(l_Q - l_j) x_j^T D B_j + a lambda_j
///   lambda_t = sum_{i >= t > j} U_ij Delta_j + sum_{i >= t} 2^(l_i) ybar_i^T S C_i
///              + sum_{j < t} w_j x_j^T D B_j + 2^(l_Q) <S, D>
/// lambda is the cotangent of the exponent Delta a. All of its sums are sums over rectangles: nothing is
/// subtracted, so that long memory cancels nothing.
#pragma once

#include "core/workspace.cuh"
#include "nn/decays.cuh"
#include "nn/tokens.cuh"

namespace structmat::gpu::nn {

/// Tokens of a chunk.
constexpr int gradient_chunk = 64;

/// One direction. Shapes: those of SSD (structmat/nn/ssd.hpp), batches broadcast.
template <class T>
struct ChunkGradients {
  template <class U, int Rank>
  using Operand = View<U, Rank, space::cuda>;

  Operand<const T, 4> x, y_bar, b, c;
  Operand<const T, 3> dt;
  Operand<const float, 1> a, dt_bias;  ///< dt_bias null: 0
  Operand<const float, 2> d;           ///< null: 0
  StepRule rule;
  bool backward = false;  ///< the recurrence runs from the last token of a sequence to the first
  /// The recurrence's result of token t goes to the next token in its order: y_bar of t is that of the next
  /// one, zero behind the end of the sequence.
  bool shifted = false;
  /// In front of each chunk, and the cotangents of those behind it: (slots, H, P', N') of walks, P and N
  /// rounded up to 16. What pads columns is zero.
  const T *states = nullptr, *state_bars = nullptr;

  // Results; null: not wanted.
  Operand<T, 4> x_bar{}, b_bar{}, c_bar{};
  Operand<T, 3> dt_bar{};
  Operand<float, 1> a_bar{}, dt_bias_bar{};
  Operand<float, 2> d_bar{};  ///< stride 0 along P: one a head
  // True: added to what is there; false: set.
  bool accumulate = true;             ///< dt, B, C
  bool accumulate_x = true;           ///< x
  bool accumulate_parameters = true;  ///< a, dt_bias, D
};

/// Shares of chunks in the cotangents of parameters.
struct GradientParts {
  float *a, *dt_bias;  ///< (H, slots)
  float* d;            ///< (H, slots, P)
};
GradientParts take_gradient_parts(Workspace& workspace, index_t slots, index_t heads,
                                  index_t channels);

/// Enqueues the kernels; chunks have gradient_chunk tokens. Operands have been checked: no cotangent has a stride
/// 0, except d_bar. Directions may use the same parts one after the other.
/// More than 128 states (float: 64) are done piece by piece, each adding to xbar and dtbar.
template <class T>
void chunk_gradients(const char* operation, cudaStream_t stream, const Tokens& tokens,
                     const ChunkGradients<T>& gradients, const GradientParts& parts);

}  // namespace structmat::gpu::nn
