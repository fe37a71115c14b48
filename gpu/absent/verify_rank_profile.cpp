#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/verify/rank_profile.hpp"

namespace structmat::verify {

template <Scalar T>
Report quasiseparable(const exec::cuda&, View<const T, 2, space::cuda>, const Options&) {
  absent("verify::quasiseparable");
}
template <Scalar T>
Report semiseparable(const exec::cuda&, View<const T, 2, space::cuda>, const Options&) {
  absent("verify::semiseparable");
}

#define STRUCTMAT_INSTANTIATE(T)                                         \
  template STRUCTMAT_EXPORT Report quasiseparable<T>(                    \
      const exec::cuda&, View<const T, 2, space::cuda>, const Options&); \
  template STRUCTMAT_EXPORT Report semiseparable<T>(                     \
      const exec::cuda&, View<const T, 2, space::cuda>, const Options&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
