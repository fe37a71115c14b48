/// \file
/// Single transitions of the uniform kinds, so that operations on generators are written once.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// The first r states of an array (batch, n, r ...) of generators or transitions.
template <class T, int Rank>
View<T, Rank> leading_states(View<T, Rank> v, index_t r) {
  for (int d = 2; d < Rank; ++d) v = v.slice(d, 0, r);
  return v;
}

/// The transitions of the transposed triangle.
template <class T, int Rank>
View<T, Rank> transposed_transitions(const View<T, Rank>& a) {
  if constexpr (Rank == transition::Dense::rank) {
    return a.transposed();
  } else {
    return a;
  }
}

/// a(batch, i) := 1 on the states begin <= k < end; for one Scalar transition on all of them.
template <Scalar T, int Rank>
void set_identity(const View<T, Rank>& a, index_t batch, index_t i, index_t begin, index_t end) {
  if constexpr (Rank == transition::Scalar::rank) {
    a(batch, i) = T{1};
  } else {
    for (index_t k = begin; k < end; ++k) {
      if constexpr (Rank == transition::Diagonal::rank) a(batch, i, k) = T{1};
      if constexpr (Rank == transition::Dense::rank) a(batch, i, k, k) = T{1};
    }
  }
}

}  // namespace structmat::quasiseparable
