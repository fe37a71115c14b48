/// \file
/// Checked kernel launches for operations that never synchronise.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "structmat/core/error.hpp"
#include "structmat/core/exec.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::gpu {

/// threadIdx.x, read again: what depends on it is computed anew, and does not stay in registers.
__device__ inline unsigned thread_again() {
#if defined(STRUCTMAT_CUDA_EMULATION)
  return threadIdx.x;
#else
  unsigned thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#endif
}

/// Throws BackendError, on behalf of `operation`, unless the status is success.
inline void check(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return;
  // Some errors stay pending and would be reported by the next, innocent call.
  cudaGetLastError();
  throw BackendError(operation, "CUDA", status, cudaGetErrorString(status));
}

/// Throws NotAvailable, on behalf of `operation`, when there is no device. Without a device or a
/// driver the codes differ between driver versions: any failure means "none".
inline void require_device(const char* operation) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return;
  cudaGetLastError();
  throw NotAvailable(std::string(operation) + ": no CUDA device" +
                     (status == cudaSuccess
                          ? std::string()
                          : std::string(" (") + cudaGetErrorString(status) + ")"));
}

/// Multiprocessors of the current device. Throws NotAvailable when there is none.
inline int multiprocessors(const char* operation) {
  require_device(operation);
  int device = 0, count = 0;
  check(cudaGetDevice(&device), operation);
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), operation);
  return count;
}

/// Blocks of a grid whose threads walk over the work with the grid's size as step: as many as there
/// is work, but no more than keep the device busy, so that no extent meets the limits of a grid.
inline unsigned persistent_blocks(index_t work, index_t work_per_block, int processors) {
  constexpr index_t blocks_per_processor = 16;
  const index_t wanted = (work + work_per_block - 1) / work_per_block;
  return static_cast<unsigned>(std::min(wanted, blocks_per_processor * processors));
}

/// Extents of a launch: grids have one dimension.
struct Grid {
  unsigned blocks, threads;
  std::size_t shared_bytes = 0;
};

/// Enqueues a kernel. Throws BackendError.
template <class... Parameters>
void launch(const char* operation, void (*kernel)(Parameters...), Grid grid, cudaStream_t stream,
            const std::type_identity_t<Parameters>&... arguments) {
  // What a block gets without asking.
  constexpr std::size_t default_shared_bytes = 48 * 1024;
  if (grid.shared_bytes > default_shared_bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(grid.shared_bytes)),
          operation);
  }
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(grid.blocks);
  configuration.blockDim = dim3(grid.threads);
  configuration.dynamicSmemBytes = grid.shared_bytes;
  configuration.stream = stream;
  check(cudaLaunchKernelEx(&configuration, kernel, arguments...), operation);
}
template <class... Parameters>
void launch(const char* operation, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
            cudaStream_t stream, const std::type_identity_t<Parameters>&... arguments) {
  launch(operation, kernel, Grid{blocks, threads}, stream, arguments...);
}

/// The stream of an execution object.
inline cudaStream_t stream_of(const exec::cuda& e) {
  return static_cast<cudaStream_t>(e.stream);
}

}  // namespace structmat::gpu
