/// \file
/// Semiseparable matrices, and their cotangents, as a triangle of gpu/recurrence/triangles.cuh.
#pragma once

#include "recurrence/triangles.cuh"
#include "structmat/semiseparable/cotangent.hpp"

namespace structmat::gpu::semiseparable {

/// Generators, or cotangents of generators, of op(M) in the order of the sweep. Upwards
///   t_j = A_{j+1}^T t_{j+1} + c_j x_j,  y_j = b_j^T t_j:
/// position j has transition A_{j+1}. For j = n-1 that is one past the end, where a sweep starts and
/// reads none.
template <class M, class Part>
void arrange(const M& m, Op op, Part& part) {
  if (op == Op::none) {
    part.out = strided(m.c);
    part.in = strided(m.b);
    part.transition = recurrence::widened(m.a);
    return;
  }
  auto a = m.a;
  if constexpr (decltype(a)::rank == transition::Dense::rank) a = a.transposed();
  if (a.data() && a.extent(1) > 0) a = {a.data() + a.stride(1), a.extents(), a.strides()};
  part.out = strided(m.b.reversed(1));
  part.in = strided(m.c.reversed(1));
  part.transition = recurrence::widened(a.reversed(1));
}

/// op(M) on operands that are set later.
template <class T, class K>
recurrence::Triangles<device_scalar_t<T>> triangles(const SemiseparableView<T, K, space::cuda>& m,
                                                    Op op) {
  recurrence::Triangles<device_scalar_t<T>> t;
  arrange(m, op, t.part[0]);
  t.part[0].states = m.order();
  t.part[0].upward = op != Op::none;
  t.part[0].inclusive = true;
  t.n = m.size();
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  return t;
}

}  // namespace structmat::gpu::semiseparable
