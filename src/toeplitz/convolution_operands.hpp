/// \file
/// Operands of convolutions: checks, and what the sequences share.
#pragma once

#include <string>

#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"

namespace structmat::toeplitz {

/// (batch, channels, L) as right-hand sides of one matrix a channel: (channels, L, batch).
template <class T, class Space>
View<T, 3, Space> by_channels(const View<T, 3, Space>& x) {
  return {
      x.data(), {x.extent(1), x.extent(2), x.extent(0)}, {x.stride(1), x.stride(2), x.stride(0)}};
}

/// Do all sequences of a batch share their kernels?
template <class K>
bool one_batch(const K& forward, const K& backward) {
  return (!forward.data() || forward.extent(0) == 1) &&
         (!backward.data() || backward.extent(0) == 1);
}
/// Do all channels?
template <class K>
bool one_channel(const K& forward, const K& backward) {
  return (!forward.data() || forward.extent(1) == 1) &&
         (!backward.data() || backward.extent(1) == 1);
}

template <class T, class Space>
void require_kernel(const std::string& operation, const char* name, const View<T, 3, Space>& kernel,
                    const std::array<index_t, 3>& sequence) {
  for (const int d : {0, 1}) {
    if (kernel.data() && kernel.extent(d) != 1 && kernel.extent(d) != sequence[d]) {
      throw ShapeError(operation + ": " + name + " has extent " + std::to_string(kernel.extent(d)) +
                       " in dimension " + std::to_string(d) + ", the sequences have " +
                       std::to_string(sequence[d]));
    }
  }
}

template <class T, class U, class Space>
void require_same(const std::string& operation, const char* name, const View<T, 3, Space>& v,
                  const char* other_name, const View<U, 3, Space>& other) {
  for (int d = 0; d < 3; ++d) {
    if (v.extent(d) != other.extent(d)) {
      throw ShapeError(operation + ": " + name + " has extent " + std::to_string(v.extent(d)) +
                       " in dimension " + std::to_string(d) + ", " + other_name + " has " +
                       std::to_string(other.extent(d)));
    }
  }
}

/// Throws ShapeError, DomainError (overlap), on behalf of `operation`.
template <Scalar T, class Space>
void check_convolution(const std::string& operation, const View<const T, 3, Space>& forward,
                       const View<const T, 3, Space>& backward, const View<const T, 3, Space>& x,
                       const View<T, 3, Space>& y) {
  require_kernel(operation, "the forward kernel", forward, x.extents());
  require_kernel(operation, "the backward kernel", backward, x.extents());
  require_same(operation, "y", y, "x", x);
  if (overlaps(x, View<const T, 3, Space>(y)))
    throw DomainError(operation + ": x and y overlap in memory");
}

/// The same for the reverse mode.
template <Scalar T, class Space>
void check_convolution_vjp(const std::string& operation, const View<const T, 3, Space>& forward,
                           const View<const T, 3, Space>& backward,
                           const View<const T, 3, Space>& x, const View<const T, 3, Space>& y_bar,
                           const View<T, 3, Space>& forward_bar,
                           const View<T, 3, Space>& backward_bar, const View<T, 3, Space>& x_bar) {
  require_kernel(operation, "the forward kernel", forward, x.extents());
  require_kernel(operation, "the backward kernel", backward, x.extents());
  require_same(operation, "y_bar", y_bar, "x", x);
  if (forward_bar.data())
    require_same(operation, "the cotangent of the forward kernel", forward_bar, "the kernel",
                 forward);
  if (backward_bar.data()) {
    require_same(operation, "the cotangent of the backward kernel", backward_bar, "the kernel",
                 backward);
  }
  if (!x_bar.data()) return;
  require_same(operation, "x_bar", x_bar, "x", x);
  const View<const T, 3, Space> bar(x_bar);
  if (overlaps(bar, x) || overlaps(bar, y_bar))
    throw DomainError(operation + ": x_bar overlaps x or y_bar in memory");
}

}  // namespace structmat::toeplitz
