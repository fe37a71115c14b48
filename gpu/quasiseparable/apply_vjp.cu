#include "structmat/quasiseparable/apply_vjp.hpp"

#include <utility>

#include "core/instantiate.hpp"
#include "quasiseparable/checked_cotangent.hpp"
#include "quasiseparable/triangles.cuh"
#include "recurrence/apply_vjp.cuh"
#include "recurrence/vjp_operands.hpp"

namespace structmat {
namespace {

constexpr char operation[] = "quasiseparable::apply_vjp";

template <class T, class K>
gpu::recurrence::Reverse<gpu::device_scalar_t<T>> reverse(
    const QuasiseparableView<T, K, space::cuda>& m, Op op) {
  gpu::recurrence::Reverse<gpu::device_scalar_t<T>> r;
  r.forward = gpu::quasiseparable::triangles(m, op);
  r.adjoint = gpu::quasiseparable::triangles(m, op == Op::none ? Op::transpose : Op::none);
  // The adjoint of the lower triangle is an upper one.
  std::swap(r.adjoint.part[0], r.adjoint.part[1]);
  r.adjoint.conjugate = is_complex_v<T> && op != Op::adjoint;
  r.bar.shared_transition = std::same_as<K, transition::Scalar>;
  return r;
}

/// visit(name, cotangent) for all of them.
template <class Cotangent, class Visit>
void for_each_cotangent(const Cotangent& bar, const Visit& visit) {
  visit("the cotangent of p", bar.p), visit("the cotangent of q", bar.q);
  visit("the cotangent of a", bar.a), visit("the cotangent of d", bar.d);
  visit("the cotangent of g", bar.g), visit("the cotangent of h", bar.h);
  visit("the cotangent of b", bar.b);
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t apply_vjp_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& matrix, index_t k,
                                  index_t batch) {
  const auto m = quasiseparable::checked(matrix, operation, batch);
  return gpu::recurrence::reverse_workspace_bytes<K>(operation, reverse(m, Op::none), k, m.batch());
}

template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const QuasiseparableCotangent<T, K, space::cuda>& matrix_bar,
               View<T, 3, space::cuda> x_bar) {
  const index_t n = matrix.size();
  const index_t own = quasiseparable::checked(matrix, operation).batch();
  gpu::recurrence::require_cotangent(operation, e, x_bar, "x_bar");
  const index_t batch =
      structmat::detail::check_vjp_operands(operation, own, n, n, x, y_bar, x_bar);
  const auto m = quasiseparable::checked(matrix, operation, batch);
  for_each_cotangent(matrix_bar, [&](const char* name, const auto& bar) {
    gpu::recurrence::require_cotangent(operation, e, bar, name);
  });
  const auto m_bar =
      quasiseparable::checked_cotangent(operation, matrix_bar, batch, n, matrix.order());

  auto r = reverse(m, op);
  gpu::quasiseparable::arrange(m_bar, op, r.bar.part[0], r.bar.part[1]);
  r.bar.diagonal = gpu::strided(m_bar.d);
  bool sums = gpu::recurrence::sums_over_batch(x_bar);
  for_each_cotangent(m_bar, [&](const char*, const auto& bar) {
    sums = sums || gpu::recurrence::sums_over_batch(bar);
  });
  r.bar.together = sums ? batch : 1;
  if (!gpu::recurrence::set_operands<T>(operation, e, r, x.broadcast(0, batch), y_bar, x_bar)) {
    return;
  }
  gpu::recurrence::apply_vjp<gpu::recurrence::kernel_kind<K>>(operation, e, r);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(                         \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t, index_t);     \
  template STRUCTMAT_EXPORT void apply_vjp(                                            \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,                    \
      const QuasiseparableCotangent<T, transition::K, space::cuda>&, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
