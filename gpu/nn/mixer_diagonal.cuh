/// \file
/// Reverse mode of the diagonal of the quasiseparable mixer, y_t = (delta_t + D) x_t.
#pragma once

#include "core/workspace.cuh"
#include "nn/parameter_sums.cuh"
#include "structmat/core/bf16.hpp"

namespace structmat::gpu::nn {

/// Operands have the shapes of structmat/nn/quasiseparable_mixer.hpp, batches broadcast; null: absent.
template <class T>
struct MixerDiagonal {
  template <class U, int Rank>
  using Operand = View<U, Rank, space::cuda>;

  Operand<const T, 4> x, y_bar;
  Operand<const T, 3> delta;
  Operand<const float, 2> d;
  Operand<T, 4> x_bar;
  Operand<T, 3> delta_bar;
  Operand<float, 2> d_bar;  ///< stride 0 along P: one a head
  bool accumulate = true;
};

/// What parts of the tokens give to d_bar.
template <class T>
float* take_diagonal_parts(Workspace& workspace, const View<const T, 4, space::cuda>& x);

/// Enqueues one launch, and another one for d_bar.
template <class T>
void pull_back_diagonal(const char* operation, cudaStream_t stream, const MixerDiagonal<T>& m,
                        float* parts);

}  // namespace structmat::gpu::nn
