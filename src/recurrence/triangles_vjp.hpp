/// \file
/// Reverse mode of triangles.hpp: the path on which the gradient of every uniform apply runs.
#pragma once

#include "recurrence/triangles.hpp"

namespace structmat::recurrence {

/// Cotangents of the generators of one triangle, in sweep order; each may be empty.
template <Scalar T, transition::Uniform K>
struct TriangleCotangent {
  View<T, 3> out{}, in{};
  View<T, K::rank> transition{};

  bool empty() const { return !out.data() && !in.data() && !transition.data(); }
};

/// Batch extents are those of the operation; stride 0 along the batch collects a sum.
template <Scalar T, transition::Uniform K>
struct TrianglesCotangent {
  TriangleCotangent<T, K> down{}, up{};
  View<T, 2> diagonal{};
};

/// For y = M x: m_bar and x_bar (may be empty) += cotangents that belong to y_bar. Shapes fit;
/// nothing that is written overlaps anything else. threads as in exec::cpu.
template <Scalar T, transition::Uniform K>
void apply_vjp(int threads, const Triangles<T, K>& m, View<const T, 3> x, View<const T, 3> y_bar,
               const TrianglesCotangent<T, K>& m_bar, View<T, 3> x_bar);

}  // namespace structmat::recurrence
