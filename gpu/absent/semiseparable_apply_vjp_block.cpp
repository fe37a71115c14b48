#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/semiseparable/apply_vjp.hpp"

namespace structmat {

template <Scalar T>
index_t apply_vjp_workspace_bytes(const Semiseparable<T, transition::Block, space::cuda>&, index_t,
                                  index_t) {
  absent("semiseparable::apply_vjp_workspace_bytes");
}

template <Scalar T>
void apply_vjp(const exec::cuda&, const Semiseparable<T, transition::Block, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               Semiseparable<T, transition::Block, space::cuda>*, View<T, 3, space::cuda>) {
  absent("semiseparable::apply_vjp");
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
