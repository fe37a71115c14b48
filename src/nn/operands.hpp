/// \file
/// Checks of operands that layers share.
#pragma once

#include <array>
#include <string>

#include "structmat/core/error.hpp"
#include "structmat/nn/packing.hpp"

namespace structmat::nn {

namespace detail {

template <class V, std::size_t Rank>
void require_extents(const std::string& operation, const char* name, const V& v,
                     const std::array<index_t, Rank>& extents) {
  if (v.extents() == extents) return;
  const auto text = [](const auto& e) {
    std::string s;
    for (const index_t n : e) s += (s.empty() ? "" : " x ") + std::to_string(n);
    return s;
  };
  throw ShapeError(operation + ": " + name + " is " + text(v.extents()) + ", expected " +
                   text(extents));
}

}  // namespace detail

/// Are they the same numbers at the same places?
template <class U, class V, int Rank, class Space>
bool same_view(const View<U, Rank, Space>& a, const View<V, Rank, Space>& b) {
  return a.data() == b.data() && a.extents() == b.extents() && a.strides() == b.strides();
}

/// Throws ShapeError for packed sequences in a batch.
inline void require_one_entry(const std::string& operation, index_t batch) {
  if (batch == 1) return;
  throw ShapeError(operation + ": packed sequences in a batch of " + std::to_string(batch) +
                   ", expected 1");
}

/// Throws DomainError unless `starts` is 0 ... length in order.
inline void check_starts(const std::string& operation, const Starts<>& starts, index_t length) {
  const index_t count = starts.extent(0);
  if (count == 0) return;
  if (starts(0) != 0 || starts(count - 1) != length) {
    throw DomainError(operation + ": sequences cover tokens " + std::to_string(starts(0)) + " to " +
                      std::to_string(starts(count - 1)) + ", there are 0 to " +
                      std::to_string(length));
  }
  for (index_t s = 1; s < count; ++s) {
    if (starts(s) < starts(s - 1)) {
      throw DomainError(operation + ": sequence " + std::to_string(s) + " starts at token " +
                        std::to_string(starts(s)) + ", before the one in front of it at " +
                        std::to_string(starts(s - 1)));
    }
  }
}

}  // namespace structmat::nn
