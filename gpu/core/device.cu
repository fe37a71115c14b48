// Devices; device memory behind Array<T, Rank, space::cuda> and its copies.
#include <cuda_runtime_api.h>

#include <string>

#include "structmat/core/array.hpp"
#include "structmat/core/device.hpp"

namespace structmat {
namespace {

void check(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return;
  // Some errors stay pending and would be reported by the next, innocent call.
  cudaGetLastError();
  throw BackendError(operation, "CUDA", status, cudaGetErrorName(status));
}

/// Without a device or a driver, the codes differ between driver versions: any failure means
/// "none".
cudaError_t count_devices(int& count) noexcept {
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return status;
  count = 0;
  cudaGetLastError();
  return status;
}

void require_device(const char* operation) {
  int count = 0;
  const cudaError_t status = count_devices(count);
  if (count > 0) return;
  throw NotAvailable(std::string(operation) + ": no CUDA device" +
                     (status == cudaSuccess
                          ? std::string()
                          : std::string(" (") + cudaGetErrorString(status) + ")"));
}

}  // namespace

int device_count() noexcept {
  int count = 0;
  count_devices(count);
  return count;
}

std::string device_name(int device) {
  constexpr const char* operation = "device_name";
  require_device(operation);
  const int count = device_count();
  if (device < 0 || device >= count) {
    throw NotAvailable(std::string(operation) + ": device " + std::to_string(device) + " of " +
                       std::to_string(count));
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), operation);
  return properties.name;
}

namespace detail {

void* device_allocate(std::size_t bytes) {
  require_device("device_allocate");
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

}  // namespace detail
}  // namespace structmat
