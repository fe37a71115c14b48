/// \file
/// Workspaces: one description of the arrays of an operation serves both the query of its size and the
/// cutting of the caller's memory.
#pragma once

#include <cstdint>
#include <string>

#include "core/complex.cuh"
#include "structmat/core/error.hpp"
#include "structmat/core/view.hpp"

namespace structmat::gpu {

/// Hands out arrays, aligned to 256 bytes, from the caller's memory; without memory it counts.
class Workspace {
 public:
  static constexpr index_t alignment = 256;

  explicit Workspace(const char* operation, std::byte* memory = nullptr)
      : operation_(operation), memory_(memory) {}

  /// `count` elements, unset; null when counting. Throws ShapeError beyond 64-bit arithmetic.
  template <class T>
  T* take(index_t count) {
    index_t size = 0, end = 0;
    if (__builtin_mul_overflow(count, static_cast<index_t>(sizeof(T)), &size) ||
        __builtin_add_overflow(bytes_, size + (alignment - 1), &end)) {
      throw ShapeError(std::string(operation_) + ": a workspace of " + std::to_string(count) +
                       " times " + std::to_string(sizeof(T)) + " bytes exceeds 64-bit arithmetic");
    }
    T* const array = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ = end / alignment * alignment;
    return array;
  }

  index_t bytes() const { return bytes_; }

 private:
  const char* operation_;
  std::byte* memory_;
  index_t bytes_ = 0;
};

/// Cuts the workspace of an execution object: `layout(workspace)` takes arrays and returns them. It
/// is called twice, first to count. Throws DomainError when the workspace is too small, Unsupported
/// when it is not contiguous or not aligned to 256 bytes.
template <class Layout>
auto cut(const char* operation, const View<std::byte, 1, space::cuda>& memory, Layout&& layout) {
  Workspace counter(operation);
  layout(counter);
  const index_t needed = counter.bytes();
  if (memory.size() < needed) {
    throw DomainError(std::string(operation) + ": the workspace has " +
                      std::to_string(memory.size()) + " bytes, " + std::to_string(needed) +
                      " are needed");
  }
  if (needed > 0 && (memory.stride(0) != 1 ||
                     reinterpret_cast<std::uintptr_t>(memory.data()) % Workspace::alignment != 0)) {
    throw Unsupported(std::string(operation) + ": the workspace has stride " +
                      std::to_string(memory.stride(0)) +
                      " and must have 1, beginning at a multiple of " +
                      std::to_string(Workspace::alignment) + " bytes");
  }
  Workspace workspace(operation, memory.data());
  return layout(workspace);
}

/// Bytes that `layout` takes.
template <class Layout>
index_t counted(const char* operation, Layout&& layout) {
  Workspace counter(operation);
  layout(counter);
  return counter.bytes();
}

/// Throws DomainError when the workspace overlaps an operand.
template <class V>
void require_apart(const char* operation, const View<std::byte, 1, space::cuda>& memory,
                   const V& operand, const char* name) {
  if (!memory.empty() && !operand.empty() && overlaps(memory, operand)) {
    throw DomainError(std::string(operation) + ": the workspace overlaps " + name);
  }
}

/// Throws Unsupported when an output has stride 0 in a dimension of more than one element.
template <class V>
void require_writable(const char* operation, const V& output, const char* name) {
  if (output.empty()) return;
  for (int d = 0; d < V::rank; ++d) {
    if (output.extent(d) > 1 && output.stride(d) == 0) {
      throw Unsupported(std::string(operation) + ": " + name + " has stride 0 in dimension " +
                        std::to_string(d) + " of extent " + std::to_string(output.extent(d)) +
                        "; an output cannot be broadcast");
    }
  }
}

}  // namespace structmat::gpu
