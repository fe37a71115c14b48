/// \file
/// Cotangents of parameters from what blocks of tokens give to them.
#pragma once

#include "core/strided.cuh"

namespace structmat::gpu::nn {

/// Parameters (rows, channels); data null: not wanted.
struct Parameters {
  Strided<float, 2> to;
  index_t rows = 0;
};

/// to := or += sums over parts (parts, rows of all parameters, channels), in an order that depends on their
/// number alone, in double. Enqueues one launch.
void sum_parameters(const char* operation, cudaStream_t stream, const float* sums, index_t parts,
                    index_t channels, const Parameters& first, const Parameters& second,
                    bool accumulate);

}  // namespace structmat::gpu::nn
