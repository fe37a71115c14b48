/// \file
/// Checked kernel launches for operations that never synchronise.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "structmat/core/error.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::gpu {

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

template <class... Parameters>
void launch(const char* operation, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
            cudaStream_t stream, Parameters... arguments) {
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(blocks);
  configuration.blockDim = dim3(threads);
  configuration.stream = stream;
  check(cudaLaunchKernelEx(&configuration, kernel, arguments...), operation);
}

}  // namespace structmat::gpu
