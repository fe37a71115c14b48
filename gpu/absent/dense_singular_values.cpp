#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/dense/singular_values.hpp"

namespace structmat::dense {

template <Scalar T>
index_t singular_values_workspace_bytes(const View<const T, 3, space::cuda>&) {
  absent("dense::singular_values_workspace_bytes");
}

template <Scalar T>
void singular_values(const exec::cuda&, View<const T, 3, space::cuda>,
                     View<real_t<T>, 2, space::cuda>, View<int, 1, space::cuda>) {
  absent("dense::singular_values");
}

template <Scalar T>
index_t rank_workspace_bytes(const View<const T, 3, space::cuda>&) {
  absent("dense::rank_workspace_bytes");
}

template <Scalar T>
void rank(const exec::cuda&, View<const T, 3, space::cuda>, const RankTolerance&,
          View<int, 1, space::cuda>, View<real_t<T>, 1, space::cuda>,
          View<real_t<T>, 1, space::cuda>) {
  absent("dense::rank");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT index_t singular_values_workspace_bytes(                               \
      const View<const T, 3, space::cuda>&);                                                       \
  template STRUCTMAT_EXPORT void singular_values(const exec::cuda&, View<const T, 3, space::cuda>, \
                                                 View<real_t<T>, 2, space::cuda>,                  \
                                                 View<int, 1, space::cuda>);                       \
  template STRUCTMAT_EXPORT index_t rank_workspace_bytes(const View<const T, 3, space::cuda>&);    \
  template STRUCTMAT_EXPORT void rank(const exec::cuda&, View<const T, 3, space::cuda>,            \
                                      const RankTolerance&, View<int, 1, space::cuda>,             \
                                      View<real_t<T>, 1, space::cuda>,                             \
                                      View<real_t<T>, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
