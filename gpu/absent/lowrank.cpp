#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/lowrank/apply.hpp"
#include "structmat/lowrank/apply_vjp.hpp"

namespace structmat {

template <Scalar T>
index_t apply_workspace_bytes(const LowRankView<T, space::cuda>&, index_t, index_t) {
  absent("lowrank::apply_workspace_bytes");
}
template <Scalar T>
void apply(const exec::cuda&, const LowRankView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,
           View<T, 3, space::cuda>) {
  absent("lowrank::apply");
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const LowRankView<T, space::cuda>&, index_t, index_t) {
  absent("lowrank::apply_vjp_workspace_bytes");
}
template <Scalar T>
void apply_vjp(const exec::cuda&, const LowRankView<T, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               const LowRankCotangent<T, space::cuda>&, View<T, 3, space::cuda>) {
  absent("lowrank::apply_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const LowRankView<T, space::cuda>&,     \
                                                          index_t, index_t);                      \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const LowRankView<T, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);   \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const LowRankView<T, space::cuda>&, \
                                                              index_t, index_t);                  \
  template STRUCTMAT_EXPORT void apply_vjp(                                                       \
      const exec::cuda&, const LowRankView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,   \
      View<const T, 3, space::cuda>, const LowRankCotangent<T, space::cuda>&,                     \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
