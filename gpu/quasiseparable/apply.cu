#include "structmat/quasiseparable/apply.hpp"

#include "core/instantiate.hpp"
#include "quasiseparable/triangles.cuh"
#include "recurrence/apply.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "quasiseparable::apply";

}  // namespace

template <Scalar T, transition::Uniform K>
index_t apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& matrix, index_t k) {
  const auto m = quasiseparable::checked(matrix, operation);
  return gpu::recurrence::multiply_workspace_bytes<K>(
      operation, gpu::quasiseparable::triangles(m, Op::none), k, m.batch());
}

template <Scalar T, transition::Uniform K>
void apply(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  const auto m = quasiseparable::checked(matrix, operation);
  detail::check_operands(operation, m.batch(), m.size(), m.size(), x, y);
  gpu::recurrence::multiply<K, T>(operation, e, gpu::quasiseparable::triangles(m, op), x, y,
                                  m.batch());
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
