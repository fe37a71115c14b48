/// \file
/// Device memory of sweeps, whose sizes show as they go.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/launch.cuh"
#include "structmat/core/array.hpp"

namespace structmat::quasiseparable {

/// Device memory that is handed out piece by piece, in an order that `fetch` keeps.
template <class D>
class Pool {
 public:
  D* take(index_t count) {
    constexpr index_t least = index_t{1} << 20;
    if (slabs_.empty() || slabs_.back().used + count > slabs_.back().memory.size()) {
      slabs_.push_back({Array<D, 1, space::cuda>({std::max(least, count)}, uninitialized), 0});
    }
    Slab& slab = slabs_.back();
    slab.used += count;
    return slab.memory.data() + slab.used - count;
  }

  /// The pieces one behind the other, on the host. After the work that fills them is done.
  void fetch(const char* operation, D* to) const {
    for (const Slab& slab : slabs_) {
      if (slab.used == 0) continue;
      gpu::check(cudaMemcpy(to, slab.memory.data(), slab.used * sizeof(D), cudaMemcpyDeviceToHost),
                 operation);
      to += slab.used;
    }
  }

  /// All pieces are given back; for work in the order of one stream.
  void clear() {
    if (slabs_.size() > 1) slabs_.erase(slabs_.begin(), slabs_.end() - 1);
    if (!slabs_.empty()) slabs_.back().used = 0;
  }

 private:
  struct Slab {
    Array<D, 1, space::cuda> memory;
    index_t used = 0;
  };
  std::vector<Slab> slabs_;
};

/// Memory that grows; what it held is lost then. Or the caller's, which does not.
template <class D>
class Buffer {
 public:
  explicit Buffer(bool zeros = false) : zeros_(zeros) {}
  D* at_least(index_t count) {
    if (borrowed_ != nullptr) {
      if (count > capacity_) {
        throw ShapeError("quasiseparable::PairSweep: " + std::to_string(count) +
                         " numbers in memory for " + std::to_string(capacity_));
      }
      return borrowed_;
    }
    if (memory_.size() < count) {
      const std::array<index_t, 1> extents{count + count / 4};
      memory_ = {};
      memory_ = zeros_ ? Array<D, 1, space::cuda>(extents)
                       : Array<D, 1, space::cuda>(extents, uninitialized);
    }
    return memory_.data();
  }
  D* data() { return borrowed_ != nullptr ? borrowed_ : memory_.data(); }

  void borrow(D* memory, index_t capacity) {
    borrowed_ = memory;
    capacity_ = capacity;
  }

 private:
  bool zeros_;
  Array<D, 1, space::cuda> memory_;
  D* borrowed_ = nullptr;
  index_t capacity_ = 0;
};

}  // namespace structmat::quasiseparable
