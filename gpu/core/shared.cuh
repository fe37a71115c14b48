/// \file
/// Dynamic shared memory, the same in kernels and in their emulation.
#pragma once

#include "core/launch.cuh"

namespace structmat::gpu {

/// The block's dynamic shared memory, aligned to 16 bytes.
template <class T>
__device__ T* dynamic_shared() {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return static_cast<T*>(emulation::shared_memory());
#else
  extern __shared__ __align__(16) unsigned char structmat_dynamic_shared[];
  return reinterpret_cast<T*>(structmat_dynamic_shared);
#endif
}

}  // namespace structmat::gpu
