#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/verify/randomised.hpp"

namespace structmat::verify {

template <Scalar T>
RandomisedReport randomised(const exec::cuda&, View<const T, 2, space::cuda>,
                            const RandomisedOptions&) {
  absent("verify::randomised");
}

#define STRUCTMAT_INSTANTIATE(T)                            \
  template STRUCTMAT_EXPORT RandomisedReport randomised<T>( \
      const exec::cuda&, View<const T, 2, space::cuda>, const RandomisedOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
