/// \file
/// A semiseparable matrix as the kernels for block generators take it.
#pragma once

#include "recurrence/block_steps.cuh"
#include "structmat/semiseparable/block_on_device.hpp"

namespace structmat::gpu::semiseparable {

template <Scalar T>
recurrence::BlockMatrixOnDevice<T> block_matrix(
    const Semiseparable<T, transition::Block, space::cuda>& m) {
  return {m.partition, m.lower, nullptr, m.diagonal, true};
}

}  // namespace structmat::gpu::semiseparable
