// Devices; device memory behind Array<T, Rank, space::cuda> and its copies.
#include "core/launch.cuh"
#include "structmat/core/array.hpp"
#include "structmat/core/device.hpp"

namespace structmat {

using gpu::check;

namespace {

__global__ void copy_lines(const double2* from, double2* to, index_t size) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    to[i] = from[i];
  }
}

}  // namespace

int device_count() noexcept {
  int count = 0;
  // Without a device or a driver the codes differ between driver versions: any failure means
  // "none".
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::string device_name(int device) {
  constexpr const char* operation = "device_name";
  gpu::require_device(operation);
  const int count = device_count();
  if (device < 0 || device >= count) {
    throw NotAvailable(std::string(operation) + ": device " + std::to_string(device) + " of " +
                       std::to_string(count));
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), operation);
  return properties.name;
}

void device_synchronize() {
  gpu::require_device("device_synchronize");
  check(cudaDeviceSynchronize(), "device_synchronize");
}

double device_copy_bandwidth() {
  constexpr const char* operation = "device_copy_bandwidth";
  // Emulated memory is the host's: less of it.
#if defined(STRUCTMAT_CUDA_EMULATION)
  constexpr index_t lines = index_t{1} << 12;
#else
  constexpr index_t lines = index_t{1} << 26;
#endif
  constexpr int samples = 7;
  constexpr unsigned threads = 256, most_blocks = 8 * 1024;
  gpu::require_device(operation);
  const Array<double2, 1, space::cuda> from({lines});
  Array<double2, 1, space::cuda> to({lines}, uninitialized);
  cudaEvent_t start = nullptr, stop = nullptr;
  check(cudaEventCreate(&start), operation);
  check(cudaEventCreate(&stop), operation);
  float fastest = 0;
  for (int i = 0; i < samples; ++i) {
    float ms = 0;
    check(cudaEventRecord(start, nullptr), operation);
    gpu::launch(operation, copy_lines, std::min<unsigned>(most_blocks, lines / threads), threads,
                nullptr, from.data(), to.data(), lines);
    check(cudaEventRecord(stop, nullptr), operation);
    check(cudaEventSynchronize(stop), operation);
    check(cudaEventElapsedTime(&ms, start, stop), operation);
    if (i == 0 || ms < fastest) fastest = ms;
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return 2.0 * sizeof(double2) * lines / (1e-3 * static_cast<double>(fastest));
}

namespace detail {

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

}  // namespace detail
}  // namespace structmat
