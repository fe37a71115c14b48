/// \file
/// Quasiseparable matrices, and their cotangents, as the two triangles of gpu/recurrence/triangles.cuh.
#pragma once

#include "recurrence/triangles.cuh"
#include "structmat/quasiseparable/cotangent.hpp"

namespace structmat::gpu::quasiseparable {

/// The transitions of the transposed triangle.
template <class V>
V transposed_if(bool transposed, const V& a) {
  if constexpr (V::rank == transition::Dense::rank) return transposed ? a.transposed() : a;
  return a;
}

/// Generators, or cotangents of generators, of op(M) in the order of the sweeps: the lower triangle down,
/// the upper one up. (M^T)_ij = M_ji: the lower triangle of the transpose is the upper one with out and in
/// exchanged, and transposed transitions.
template <class M, class Part>
void arrange(const M& m, Op op, Part& lower, Part& upper) {
  const bool plain = op == Op::none;
  const auto &p = plain ? m.p : m.h, &q = plain ? m.q : m.g;
  const auto &g = plain ? m.g : m.q, &h = plain ? m.h : m.p;
  const auto &a = plain ? m.a : m.b, &b = plain ? m.b : m.a;
  lower.out = strided(p);
  lower.in = strided(q);
  lower.transition = recurrence::widened(transposed_if(!plain, a));
  upper.out = strided(g.reversed(1));
  upper.in = strided(h.reversed(1));
  upper.transition = recurrence::widened(transposed_if(!plain, b.reversed(1)));
}

/// op(M) on operands that are set later.
template <class T, class K>
recurrence::Triangles<device_scalar_t<T>> triangles(const QuasiseparableView<T, K, space::cuda>& m,
                                                    Op op) {
  recurrence::Triangles<device_scalar_t<T>> t;
  arrange(m, op, t.part[0], t.part[1]);
  t.part[0].states = (op == Op::none ? m.p : m.h).extent(2);
  t.part[1].states = (op == Op::none ? m.g : m.q).extent(2);
  t.part[1].upward = true;
  t.diagonal = strided(m.d);
  t.n = m.size();
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  return t;
}

}  // namespace structmat::gpu::quasiseparable
