/// \file
/// The same matrix with transitions of a more general kind.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// Can a matrix with transitions From be stored with transitions To?
template <transition::Uniform To, transition::Uniform From>
inline constexpr bool promotes = To::rank >= From::rank;

/// M with transitions of kind To: Scalar -> Diagonal -> Dense, or a copy of its own kind.
///
/// m: batch extents 1 are broadcast to the largest one. Cost: O(batch n r^2) copies for To = Dense,
/// else O(batch n r). Exact. Throws ShapeError.
template <transition::Uniform To, Scalar T, transition::Uniform From>
requires(promotes<To, From>)
    Quasiseparable<T, To> with_transition(const QuasiseparableView<T, From>& m);

template <transition::Uniform To, Scalar T, transition::Uniform From>
requires(promotes<To, From>)
    Quasiseparable<T, To> with_transition(const Quasiseparable<T, From>& m) {
  return with_transition<To>(m.view());
}

}  // namespace structmat::quasiseparable
