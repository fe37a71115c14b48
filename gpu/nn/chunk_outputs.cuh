/// \file
/// Results of SSD and of the quasiseparable mixer in all chunks at once, from the states in front of them.
///
/// For one head and one chunk, with i, j its tokens in their order, S the state in front of the chunk in the order
/// of a recurrence, and l its inclusive sums of binary logarithms of decays in that order:
///   y_i = 2^(l_i') S C_i' + sum_j M_ij x_j + ...,   M_ij = (C_i' . B_j) 2^(l_i' - l_j) Delta_j,
/// i' = i and j up to i for SSD. The mixer adds both directions: i' = i - 1 and j < i forward, i' = i + 1 and j > i
/// backward (shift), so that one matrix M takes the parts of both; without shift i' = i and both have the diagonal.
#pragma once

#include "core/workspace.cuh"
#include "nn/decays.cuh"
#include "nn/tokens.cuh"

namespace structmat::gpu::nn {

/// Tokens of a chunk.
constexpr int output_chunk = 64;

/// One direction: what follows the data, and the states in front of chunks that walk_states() left.
template <class T>
struct OutputDirection {
  template <class U, int Rank>
  using Operand = View<U, Rank, space::cuda>;

  Operand<const T, 4> b, c;
  Operand<const T, 3> dt;
  const T* states = nullptr;
};

/// The result of one call. Shapes: those of structmat/nn/{ssd,quasiseparable_mixer}.hpp, batches broadcast; null: absent.
template <class T>
struct ChunkOutputs {
  template <class U, int Rank>
  using Operand = View<U, Rank, space::cuda>;

  OutputDirection<T> forward, backward;  ///< backward: of the mixer
  bool mixer = false, shift = false;
  Operand<const T, 4> x, z{};
  Operand<const float, 1> a, dt_bias{};
  Operand<const float, 2> d{};
  Operand<const T, 3> delta{};  ///< of the mixer's diagonal
  StepRule rule;
  Operand<T, 4> y;
  /// With y_bar, z is differentiated by: y becomes y_bar silu(z), what reverse mode goes on with, and z_bar gets
  /// y_bar silu'(z) times what the gate multiplies.
  Operand<const T, 4> y_bar{};
  Operand<T, 4> z_bar{};  ///< null: not wanted
  bool accumulate = true;
};

/// Throws Unsupported where tiles of so many states do not fit into shared memory.
template <class T>
void check_outputs(const char* operation, index_t states, bool mixer);

/// Enqueues the kernel; chunks have output_chunk tokens.
template <class T>
void chunk_outputs(const char* operation, cudaStream_t stream, const Tokens& tokens,
                   const ChunkOutputs<T>& outputs);

}  // namespace structmat::gpu::nn
