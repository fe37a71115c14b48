// Device memory behind Array<T, Rank, space::cuda> and its copies.
#include "core/launch.cuh"
#include "structmat/core/array.hpp"

namespace structmat::detail {

using gpu::check;

void* device_allocate(std::size_t bytes) {
  gpu::require_device("device_allocate");
  void* pointer = nullptr;
  check(cudaMalloc(&pointer, bytes), "device_allocate");
  return pointer;
}

// A failure here reports an earlier fault, which the calls that can throw report too.
void device_free(void* pointer) noexcept {
  cudaFree(pointer);
}

// Null-stream operations return before the device has finished them, and streams made with
// cudaStreamNonBlocking do not wait for the null stream: hence the explicit waits below.

void device_zero(void* pointer, std::size_t bytes) {
  check(cudaMemset(pointer, 0, bytes), "device_zero");
  check(cudaStreamSynchronize(nullptr), "device_zero");
}

void copy_host_to_device(void* device, const void* host, std::size_t bytes) {
  check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy_host_to_device");
  check(cudaStreamSynchronize(nullptr), "copy_host_to_device");
}

void copy_device_to_host(void* host, const void* device, std::size_t bytes) {
  check(cudaDeviceSynchronize(), "copy_device_to_host");
  check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy_device_to_host");
}

}  // namespace structmat::detail
