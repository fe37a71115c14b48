/// \file
/// Stands in for CUB's sort where the sources of gpu/ are compiled as plain C++.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub {

struct DeviceRadixSort {
  /// Stable. Without memory: how much is needed.
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void* memory, std::size_t& bytes, const Key* keys, Key* sorted,
                               const Value* values, Value* sorted_values, Count count,
                               int first_bit = 0, int last_bit = 8 * sizeof(Key),
                               cudaStream_t = nullptr) {
    if (memory == nullptr) {
      bytes = 1;
      return cudaSuccess;
    }
    if (first_bit != 0 || last_bit != 8 * sizeof(Key)) return cudaErrorInvalidValue;
    std::vector<Count> order(count);
    std::iota(order.begin(), order.end(), Count{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Count a, Count b) { return keys[a] < keys[b]; });
    for (Count i = 0; i < count; ++i) {
      sorted[i] = keys[order[i]];
      sorted_values[i] = values[order[i]];
    }
    return cudaSuccess;
  }
};

}  // namespace cub
