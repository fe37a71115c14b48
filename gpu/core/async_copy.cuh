/// \file
/// Copies from device to shared memory that do not wait for their data, for compute capability 8.0 and
/// newer. The emulation copies at once.
#pragma once

#include "core/launch.cuh"

namespace structmat::gpu {

/// One element of 4, 8 or 16 bytes, aligned to its size.
template <class T>
__device__ void copy_async(T* shared, const T* global) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
#if defined(STRUCTMAT_CUDA_EMULATION)
  *shared = *global;
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global), "n"(sizeof(T))
               : "memory");
#endif
}

/// 16 bytes, aligned to that, past the first-level cache; unless they are `there`, zeros, and nothing is read.
__device__ inline void copy_async_or_zero(uint4* shared, const uint4* global, bool there) {
#if defined(STRUCTMAT_CUDA_EMULATION)
  *shared = there ? *global : uint4{0, 0, 0, 0};
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(there ? 16 : 0)
               : "memory");
#endif
}

/// What this thread has copied since the last call becomes a group.
__device__ inline void commit_copies() {
#if !defined(STRUCTMAT_CUDA_EMULATION)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of this thread's last groups are on their way. Other threads see the
/// data behind the next barrier.
template <int Pending>
__device__ void await_copies() {
#if !defined(STRUCTMAT_CUDA_EMULATION)
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

}  // namespace structmat::gpu
