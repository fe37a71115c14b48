#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/quasiseparable/apply.hpp"

namespace structmat {

template <Scalar T, transition::Uniform K>
index_t apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>&, index_t) {
  absent("quasiseparable::apply_workspace_bytes");
}

template <Scalar T, transition::Uniform K>
void apply(const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("quasiseparable::apply");
}

template <Scalar T>
index_t apply_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>&, index_t) {
  absent("quasiseparable::apply_workspace_bytes");
}

template <Scalar T>
void apply(const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("quasiseparable::apply");
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

#define STRUCTMAT_INSTANTIATE_BLOCK(T)                                                 \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const Quasiseparable<T, transition::Block, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_BLOCK)

}  // namespace structmat
