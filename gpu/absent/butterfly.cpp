#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/butterfly/apply.hpp"
#include "structmat/butterfly/apply_vjp.hpp"

namespace structmat {

template <Scalar T>
index_t apply_workspace_bytes(const ButterflyView<T, space::cuda>&, index_t, index_t) {
  absent("butterfly::apply_workspace_bytes");
}
template <Scalar T>
void apply(const exec::cuda&, const ButterflyView<T, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("butterfly::apply");
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const ButterflyView<T, space::cuda>&, index_t, index_t) {
  absent("butterfly::apply_vjp_workspace_bytes");
}
template <Scalar T>
void apply_vjp(const exec::cuda&, const ButterflyView<T, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               const ButterflyCotangent<T, space::cuda>&, View<T, 3, space::cuda>) {
  absent("butterfly::apply_vjp");
}
template <Scalar T>
index_t apply_workspace_bytes(const MonarchView<T, space::cuda>&, index_t, index_t) {
  absent("monarch::apply_workspace_bytes");
}
template <Scalar T>
void apply(const exec::cuda&, const MonarchView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,
           View<T, 3, space::cuda>) {
  absent("monarch::apply");
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const MonarchView<T, space::cuda>&, index_t, index_t) {
  absent("monarch::apply_vjp_workspace_bytes");
}
template <Scalar T>
void apply_vjp(const exec::cuda&, const MonarchView<T, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               const MonarchCotangent<T, space::cuda>&, View<T, 3, space::cuda>) {
  absent("monarch::apply_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const ButterflyView<T, space::cuda>&,   \
                                                          index_t, index_t);                      \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const ButterflyView<T, space::cuda>&,   \
                                       Op, View<const T, 3, space::cuda>,                         \
                                       View<T, 3, space::cuda>);                                  \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(                                    \
      const ButterflyView<T, space::cuda>&, index_t, index_t);                                    \
  template STRUCTMAT_EXPORT void apply_vjp(                                                       \
      const exec::cuda&, const ButterflyView<T, space::cuda>&, Op, View<const T, 3, space::cuda>, \
      View<const T, 3, space::cuda>, const ButterflyCotangent<T, space::cuda>&,                   \
      View<T, 3, space::cuda>);                                                                   \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const MonarchView<T, space::cuda>&,     \
                                                          index_t, index_t);                      \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const MonarchView<T, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);   \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const MonarchView<T, space::cuda>&, \
                                                              index_t, index_t);                  \
  template STRUCTMAT_EXPORT void apply_vjp(                                                       \
      const exec::cuda&, const MonarchView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,   \
      View<const T, 3, space::cuda>, const MonarchCotangent<T, space::cuda>&,                     \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
