/// \file
/// One token of SSD, as a decoder takes it.
#pragma once

#include <cuda_runtime.h>

#include "nn/ssd_operands.hpp"

namespace structmat::gpu::nn {

/// The next state and y of one token (L = 1, not packed), of operands as check_operands() leaves them. One launch; final_state may be
/// initial_state. States are read and written once in float: 8 P N bytes a head, which bounds it.
template <class T>
void step(const char* operation, cudaStream_t stream, const structmat::nn::SsdShape& shape,
          const structmat::nn::SsdView<T, space::cuda>& m,
          const structmat::nn::SsdInput<T, space::cuda>& in,
          const structmat::nn::SsdOutput<T, space::cuda>& out);

}  // namespace structmat::gpu::nn
