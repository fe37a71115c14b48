#include "structmat/semiseparable/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "recurrence/apply_vjp.cuh"
#include "recurrence/checked_cotangent.hpp"
#include "recurrence/vjp_operands.hpp"
#include "semiseparable/triangles.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "semiseparable::apply_vjp";

template <class T, class K>
gpu::recurrence::Reverse<gpu::device_scalar_t<T>> reverse(
    const SemiseparableView<T, K, space::cuda>& m, Op op) {
  gpu::recurrence::Reverse<gpu::device_scalar_t<T>> r;
  r.forward = gpu::semiseparable::triangles(m, op);
  r.adjoint = gpu::semiseparable::triangles(m, op == Op::none ? Op::transpose : Op::none);
  r.adjoint.conjugate = is_complex_v<T> && op != Op::adjoint;
  r.bar.shared_transition = std::same_as<K, transition::Scalar>;
  return r;
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t apply_vjp_workspace_bytes(const SemiseparableView<T, K, space::cuda>& matrix, index_t k,
                                  index_t batch) {
  const auto m = semiseparable::checked(matrix, operation, batch);
  return gpu::recurrence::reverse_workspace_bytes<K>(operation, reverse(m, Op::none), k, m.batch());
}

template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cuda& e, const SemiseparableView<T, K, space::cuda>& matrix, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const SemiseparableCotangent<T, K, space::cuda>& matrix_bar,
               View<T, 3, space::cuda> x_bar) {
  const index_t n = matrix.size(), order = matrix.order();
  const index_t own = semiseparable::checked(matrix, operation).batch();
  gpu::recurrence::require_cotangent(operation, e, x_bar, "x_bar");
  const index_t batch =
      structmat::detail::check_vjp_operands(operation, own, n, n, x, y_bar, x_bar);
  const auto m = semiseparable::checked(matrix, operation, batch);
  bool sums = gpu::recurrence::sums_over_batch(x_bar);
  const auto checked = [&](const char* name, const auto& bar) {
    gpu::recurrence::require_cotangent(operation, e, bar, name);
    const auto result = recurrence::checked_cotangent(operation, name, bar, batch, n, order);
    sums = sums || gpu::recurrence::sums_over_batch(result);
    return result;
  };
  SemiseparableCotangent<T, K, space::cuda> m_bar;
  m_bar.c = checked("c", matrix_bar.c);
  m_bar.b = checked("b", matrix_bar.b);
  m_bar.a = checked("a", matrix_bar.a);

  auto r = reverse(m, op);
  gpu::semiseparable::arrange(m_bar, op, r.bar.part[0]);
  r.bar.together = sums ? batch : 1;
  if (!gpu::recurrence::set_operands<T>(operation, e, r, x.broadcast(0, batch), y_bar, x_bar)) {
    return;
  }
  gpu::recurrence::apply_vjp<gpu::recurrence::kernel_kind<K>>(operation, e, r);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                   \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(                        \
      const SemiseparableView<T, transition::K, space::cuda>&, index_t, index_t);     \
  template STRUCTMAT_EXPORT void apply_vjp(                                           \
      const exec::cuda&, const SemiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,                   \
      const SemiseparableCotangent<T, transition::K, space::cuda>&, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
