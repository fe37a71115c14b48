#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/verify/batch.hpp"

namespace structmat::verify {

template <Scalar T>
BatchReport quasiseparable(const exec::cuda&, View<const T, 3, space::cuda>, const Options&) {
  absent("verify::quasiseparable");
}

template <Scalar T>
BatchReport semiseparable(const exec::cuda&, View<const T, 3, space::cuda>, const Options&) {
  absent("verify::semiseparable");
}

#define STRUCTMAT_INSTANTIATE(T)                                         \
  template STRUCTMAT_EXPORT BatchReport quasiseparable(                  \
      const exec::cuda&, View<const T, 3, space::cuda>, const Options&); \
  template STRUCTMAT_EXPORT BatchReport semiseparable(                   \
      const exec::cuda&, View<const T, 3, space::cuda>, const Options&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
