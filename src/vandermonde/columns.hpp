/// \file
/// Single columns of operands as contiguous memory.
#pragma once

#include "structmat/core/array.hpp"

namespace structmat::vandermonde {

template <Scalar T>
Array<T, 1> gather(const View<const T, 1>& from, bool conjugated = false) {
  Array<T, 1> to(from.extents(), uninitialized);
  for (index_t i = 0; i < from.extent(0); ++i) {
    to.data()[i] = conjugated ? conjugate(from(i)) : from(i);
  }
  return to;
}

template <Scalar T>
void scatter(const Array<T, 1>& from, const View<T, 1>& to) {
  for (index_t i = 0; i < from.extent(0); ++i) to(i) = from(i);
}

}  // namespace structmat::vandermonde
