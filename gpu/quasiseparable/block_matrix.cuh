/// \file
/// A quasiseparable matrix as the kernels for block generators take it.
#pragma once

#include "recurrence/block_steps.cuh"
#include "structmat/quasiseparable/block_on_device.hpp"

namespace structmat::gpu::quasiseparable {

template <Scalar T>
recurrence::BlockMatrixOnDevice<T> block_matrix(
    const Quasiseparable<T, transition::Block, space::cuda>& m) {
  return {m.partition, m.lower, &m.upper_transposed, m.diagonal, false};
}

}  // namespace structmat::gpu::quasiseparable
