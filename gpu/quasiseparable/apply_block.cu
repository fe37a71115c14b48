// y := op(M) x for block generators.
#include "core/instantiate.hpp"
#include "quasiseparable/block_matrix.cuh"
#include "recurrence/apply_block.cuh"
#include "structmat/quasiseparable/apply.hpp"

namespace structmat {
namespace {

constexpr char operation[] = "quasiseparable::apply";

}  // namespace

template <Scalar T>
index_t apply_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>& m,
                              index_t k) {
  return gpu::recurrence::apply_block_workspace_bytes(operation,
                                                      gpu::quasiseparable::block_matrix(m), k);
}

template <Scalar T>
void apply(const exec::cuda& e, const Quasiseparable<T, transition::Block, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  detail::check_operands(operation, m.batch(), m.size(), m.size(), x, y);
  gpu::recurrence::apply_block<T>(operation, e, gpu::quasiseparable::block_matrix(m), op, x, y);
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const Quasiseparable<T, transition::Block, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
