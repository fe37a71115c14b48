#include "core/sort.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace structmat::gpu {
namespace {

/// `call(memory, bytes)` says how many bytes it needs when memory is null.
template <class Call>
void with_scratch(const char* operation, Scratch& scratch, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), operation);
  void* const memory = scratch.at_least(std::max<std::size_t>(bytes, 1));
  check(call(memory, bytes), operation);
}

}  // namespace

template <class Key>
void sort_by_key(const char* operation, const Key* keys, Key* sorted, const index_t* values,
                 index_t* sorted_values, index_t count, Scratch& scratch, cudaStream_t stream) {
  if (count == 0) return;
  with_scratch(operation, scratch, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted, values, sorted_values,
                                           count, 0, static_cast<int>(8 * sizeof(Key)), stream);
  });
}

void exclusive_sum(const char* operation, const std::uint64_t* in, std::uint64_t* out,
                   index_t count, Scratch& scratch, cudaStream_t stream) {
  if (count == 0) return;
  with_scratch(operation, scratch, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, in, out, count, stream);
  });
}

#define STRUCTMAT_INSTANTIATE(Key)                                                                 \
  template void sort_by_key<Key>(const char*, const Key*, Key*, const index_t*, index_t*, index_t, \
                                 Scratch&, cudaStream_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(std::uint64_t)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu
