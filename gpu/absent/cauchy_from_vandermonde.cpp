#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/cauchy/from_vandermonde.hpp"

namespace structmat::cauchy {

template <Scalar T>
CauchyLike<std::complex<real_t<T>>, space::cuda> from_vandermonde(
    const exec::cuda&, const VandermondeView<T, space::cuda>&,
    std::type_identity_t<std::complex<real_t<T>>>) {
  absent("cauchy::from_vandermonde");
}

template <Scalar T>
using ComplexCauchyLike = CauchyLike<std::complex<real_t<T>>, space::cuda>;

#define STRUCTMAT_INSTANTIATE(T)                                      \
  template STRUCTMAT_EXPORT ComplexCauchyLike<T> from_vandermonde<T>( \
      const exec::cuda&, const VandermondeView<T, space::cuda>&, std::complex<real_t<T>>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
