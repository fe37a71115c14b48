#include "structmat/quasiseparable/from_dense.hpp"

#include "absent.hpp"
#include "core/instantiate.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
FromDense<T> from_dense(const exec::cuda&, View<const T, 2, space::cuda>, const FromDenseOptions&) {
  absent("quasiseparable::from_dense");
}

template <Scalar T>
void from_dense(const exec::cuda&, View<const T, 3, space::cuda>,
                Quasiseparable<T, transition::Dense, space::cuda>&,
                View<TruncationReport, 1, space::cuda>) {
  absent("quasiseparable::from_dense");
}

template <Scalar T>
index_t from_dense_workspace_bytes(const View<const T, 3, space::cuda>&, Order) {
  absent("quasiseparable::from_dense_workspace_bytes");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT FromDense<T> from_dense<T>(                                            \
      const exec::cuda&, View<const T, 2, space::cuda>, const FromDenseOptions&);                  \
  template STRUCTMAT_EXPORT void from_dense<T>(const exec::cuda&, View<const T, 3, space::cuda>,   \
                                               Quasiseparable<T, transition::Dense, space::cuda>&, \
                                               View<TruncationReport, 1, space::cuda>);            \
  template STRUCTMAT_EXPORT index_t from_dense_workspace_bytes<T>(                                 \
      const View<const T, 3, space::cuda>&, Order);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
