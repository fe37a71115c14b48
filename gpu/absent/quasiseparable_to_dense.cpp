#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/quasiseparable/entry.hpp"

namespace structmat {

template <Scalar T, transition::Uniform K>
index_t to_dense_workspace_bytes(const QuasiseparableView<T, K, space::cuda>&) {
  absent("quasiseparable::to_dense_workspace_bytes");
}
template <Scalar T, transition::Uniform K>
void to_dense(const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&,
              View<T, 3, space::cuda>) {
  absent("quasiseparable::to_dense");
}
template <Scalar T>
index_t to_dense_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>&) {
  absent("quasiseparable::to_dense_workspace_bytes");
}
template <Scalar T>
void to_dense(const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&,
              View<T, 3, space::cuda>) {
  absent("quasiseparable::to_dense");
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(                      \
      const QuasiseparableView<T, transition::K, space::cuda>&);                   \
  template STRUCTMAT_EXPORT void to_dense(                                         \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

#define STRUCTMAT_INSTANTIATE_BLOCK(T)                                             \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(                      \
      const Quasiseparable<T, transition::Block, space::cuda>&);                   \
  template STRUCTMAT_EXPORT void to_dense(                                         \
      const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_BLOCK)

}  // namespace structmat
