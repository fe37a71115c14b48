#include "structmat/quasiseparable/from_dense.hpp"

#include "absent.hpp"
#include "core/instantiate.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
FromDense<T> from_dense(const exec::cuda&, View<const T, 2, space::cuda>, const FromDenseOptions&) {
  absent("quasiseparable::from_dense");
}

#define STRUCTMAT_INSTANTIATE(T)                        \
  template STRUCTMAT_EXPORT FromDense<T> from_dense<T>( \
      const exec::cuda&, View<const T, 2, space::cuda>, const FromDenseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
