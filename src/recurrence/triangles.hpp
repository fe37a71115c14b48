/// \file
/// One or two recurrences in opposite directions plus a diagonal: the path on which every uniform
/// apply runs.
#pragma once

#include "recurrence/sweep.hpp"
#include "structmat/core/exec.hpp"

namespace structmat::recurrence {

/// The generators of one triangle over the batch, already in sweep order. order 0: absent.
template <Scalar T, transition::Uniform K>
struct Triangle {
  View<const T, 3> out{}, in{};
  View<const T, K::rank> transition{};
  Emit emit = Emit::before;
};

/// `down` sweeps from row 0 to row n-1; `up` is stored in reversed order and sweeps from row n-1 to
/// row 0.
template <Scalar T, transition::Uniform K>
struct Triangles {
  Triangle<T, K> down{}, up{};
  View<const T, 2> diagonal{};  ///< (batch, n), or empty
  bool conjugate = false;       ///< all generators are to be conjugated
};

/// y := (down + up + diag) x; shapes fit, x and y do not overlap.
template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const Triangles<T, K>& m, View<const T, 3> x, View<T, 3> y);

}  // namespace structmat::recurrence
