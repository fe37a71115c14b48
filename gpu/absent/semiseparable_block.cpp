#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/semiseparable/apply.hpp"

namespace structmat {

template <Scalar T>
index_t apply_workspace_bytes(const Semiseparable<T, transition::Block, space::cuda>&, index_t) {
  absent("semiseparable::apply_workspace_bytes");
}

template <Scalar T>
void apply(const exec::cuda&, const Semiseparable<T, transition::Block, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("semiseparable::apply");
}

#define STRUCTMAT_INSTANTIATE(T)                                                      \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                            \
      const Semiseparable<T, transition::Block, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                               \
      const exec::cuda&, const Semiseparable<T, transition::Block, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
