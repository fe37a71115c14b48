#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/cauchy/apply.hpp"

namespace structmat {

template <Scalar T>
index_t apply_workspace_bytes(const CauchyView<T, space::cuda>&, index_t, index_t) {
  absent("cauchy::apply_workspace_bytes");
}
template <Scalar T>
index_t apply_workspace_bytes(const CauchyLikeView<T, space::cuda>&, index_t, index_t) {
  absent("cauchy::apply_workspace_bytes");
}
template <Scalar T>
void apply(const exec::cuda&, const CauchyView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,
           View<T, 3, space::cuda>) {
  absent("cauchy::apply");
}
template <Scalar T>
void apply(const exec::cuda&, const CauchyLikeView<T, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("cauchy::apply");
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                     \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const V<T, space::cuda>&, index_t, \
                                                          index_t);                          \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const V<T, space::cuda>&, Op,      \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)            \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
