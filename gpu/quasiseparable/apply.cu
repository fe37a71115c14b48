#include "structmat/quasiseparable/apply.hpp"

#include "core/instantiate.hpp"
#include "recurrence/apply.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "quasiseparable::apply";

/// op(M) on operands that are set later. (M^T)_ij = M_ji: the lower triangle of the transpose is the
/// upper one with out and in exchanged, and transposed transitions.
template <class T, class K>
gpu::recurrence::Triangles<gpu::device_scalar_t<T>> triangles(
    const QuasiseparableView<T, K, space::cuda>& m, Op op) {
  using gpu::strided;
  const auto transition = [op](const auto& a) {
    if constexpr (K::rank == 4) {
      return gpu::recurrence::widened(op == Op::none ? a : a.transposed());
    } else {
      return gpu::recurrence::widened(a);
    }
  };
  gpu::recurrence::Triangles<gpu::device_scalar_t<T>> t;
  const bool plain = op == Op::none;
  const auto &p = plain ? m.p : m.h, &q = plain ? m.q : m.g;
  const auto &g = plain ? m.g : m.q, &h = plain ? m.h : m.p;
  const auto &a = plain ? m.a : m.b, &b = plain ? m.b : m.a;
  t.part[0] = {strided(p), strided(q), transition(a), p.extent(2), false, false};
  t.part[1] = {strided(g.reversed(1)),
               strided(h.reversed(1)),
               transition(b.reversed(1)),
               g.extent(2),
               true,
               false};
  t.diagonal = strided(m.d);
  t.n = m.size();
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  return t;
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& matrix, index_t k) {
  const auto m = quasiseparable::checked(matrix, operation);
  return gpu::recurrence::multiply_workspace_bytes<K>(operation, triangles(m, Op::none), k,
                                                      m.batch());
}

template <Scalar T, transition::Uniform K>
void apply(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  const auto m = quasiseparable::checked(matrix, operation);
  detail::check_operands(operation, m.batch(), m.size(), m.size(), x, y);
  gpu::recurrence::multiply<K, T>(operation, e, triangles(m, op), x, y, m.batch());
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
