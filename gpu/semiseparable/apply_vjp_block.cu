// Reverse mode of y = op(M) x for block generators.
#include "recurrence/apply_vjp_block.cuh"

#include "core/instantiate.hpp"
#include "semiseparable/block_matrix.cuh"
#include "structmat/semiseparable/apply_vjp.hpp"

namespace structmat {
namespace {

constexpr char operation[] = "semiseparable::apply_vjp";

}  // namespace

template <Scalar T>
index_t apply_vjp_workspace_bytes(const Semiseparable<T, transition::Block, space::cuda>& m,
                                  index_t k, index_t batch) {
  return gpu::recurrence::apply_vjp_workspace_bytes(operation, gpu::semiseparable::block_matrix(m),
                                                    k, batch);
}

template <Scalar T>
void apply_vjp(const exec::cuda& e, const Semiseparable<T, transition::Block, space::cuda>& m,
               Op op, View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               Semiseparable<T, transition::Block, space::cuda>* m_bar,
               View<T, 3, space::cuda> x_bar) {
  gpu::recurrence::BlockCotangentOnDevice<T> bar;
  if (m_bar != nullptr) {
    bar = {&m_bar->partition, &m_bar->lower, nullptr, &m_bar->diagonal};
  }
  gpu::recurrence::apply_vjp(operation, e, gpu::semiseparable::block_matrix(m), op, x, y_bar, bar,
                             x_bar);
}

#define STRUCTMAT_INSTANTIATE(T)                                                      \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(                        \
      const Semiseparable<T, transition::Block, space::cuda>&, index_t, index_t);     \
  template STRUCTMAT_EXPORT void apply_vjp(                                           \
      const exec::cuda&, const Semiseparable<T, transition::Block, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,                   \
      Semiseparable<T, transition::Block, space::cuda>*, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
