/// \file
/// A dense matrix from a formula of its entries.
#pragma once

#include "structmat/core/array.hpp"

namespace structmat::detail {

/// dense(b, i, j) := entry(b, i, j). dense: (batch, m, n). Throws ShapeError on behalf of
/// `operation`.
template <class T, class Entry>
void write_entries(const char* operation, const View<T, 3>& dense,
                   const std::array<index_t, 3>& extents, const Entry& entry) {
  require_extents<T, 3, space::host>(operation, dense, extents);
  for (index_t b = 0; b < extents[0]; ++b) {
    for (index_t i = 0; i < extents[1]; ++i) {
      for (index_t j = 0; j < extents[2]; ++j) dense(b, i, j) = entry(b, i, j);
    }
  }
}

}  // namespace structmat::detail
