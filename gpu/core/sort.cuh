/// \file
/// Sorting and scanning on the device, for operations that may allocate. One file calls CUB, which is
/// slow to compile.
#pragma once

#include <cstdint>

#include "core/launch.cuh"
#include "structmat/core/array.hpp"

namespace structmat::gpu {

/// Device memory that grows when more is asked for, and keeps nothing then.
class Scratch {
 public:
  void* at_least(std::size_t bytes) {
    if (static_cast<index_t>(bytes) > memory_.size()) {
      memory_ = Array<std::byte, 1, space::cuda>();
      memory_ = Array<std::byte, 1, space::cuda>({static_cast<index_t>(bytes)}, uninitialized);
    }
    return memory_.data();
  }

 private:
  Array<std::byte, 1, space::cuda> memory_;
};

/// Sorts `count` keys in ascending order, stably, and values with them; no array overlaps another.
/// -0 equals 0; keys are not NaN. Allocates in `scratch`. Key: float, double, std::uint64_t. Throws
/// BackendError.
template <class Key>
void sort_by_key(const char* operation, const Key* keys, Key* sorted, const index_t* values,
                 index_t* sorted_values, index_t count, Scratch& scratch, cudaStream_t stream);

/// out_i := in_0 + ... + in_{i-1}. Allocates in `scratch`. Throws BackendError.
void exclusive_sum(const char* operation, const std::uint64_t* in, std::uint64_t* out,
                   index_t count, Scratch& scratch, cudaStream_t stream);

}  // namespace structmat::gpu
