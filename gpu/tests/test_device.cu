// Device memory seen by a kernel.
#include <cuda_runtime.h>

#include <cstdio>

#include "structmat/core/array.hpp"

using namespace structmat;

namespace {

__global__ void add_one(float* x, index_t n) {
  const index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

}  // namespace

int main() {
  constexpr index_t n = 1000;
  Array<float, 1, space::cuda> x;
  try {
    x = Array<float, 1, space::cuda>({n});
  } catch (const NotAvailable& e) {
    std::printf("skipped: %s\n", e.what());
    return 77;
  }
  add_one<<<4, 256>>>(x.data(), n);
  const auto y = to_host(x);
  for (index_t i = 0; i < n; ++i) {
    if (y(i) != 1) {
      std::printf("x(%lld) is %g after one increment of zero\n", static_cast<long long>(i), y(i));
      return 1;
    }
  }
  try {
    const Array<std::byte, 1, space::cuda> too_large({index_t{1} << 60});
    std::printf("an exabyte was allocated\n");
    return 1;
  } catch (const BackendError& e) {
    std::printf("%s\n", e.what());
  }
  // The failed allocation must leave no error behind.
  if (cudaGetLastError() != cudaSuccess) return 1;
  std::printf("ok\n");
  return 0;
}
