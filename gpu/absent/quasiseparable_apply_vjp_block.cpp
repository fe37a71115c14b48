#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/quasiseparable/apply_vjp.hpp"

namespace structmat {

template <Scalar T>
index_t apply_vjp_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>&, index_t,
                                  index_t) {
  absent("quasiseparable::apply_vjp_workspace_bytes");
}

template <Scalar T>
void apply_vjp(const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               Quasiseparable<T, transition::Block, space::cuda>*, View<T, 3, space::cuda>) {
  absent("quasiseparable::apply_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(                         \
      const Quasiseparable<T, transition::Block, space::cuda>&, index_t, index_t);     \
  template STRUCTMAT_EXPORT void apply_vjp(                                            \
      const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,                    \
      Quasiseparable<T, transition::Block, space::cuda>*, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
