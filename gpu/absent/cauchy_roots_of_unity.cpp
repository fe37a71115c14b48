#include "absent.hpp"
#include "structmat/cauchy/roots_of_unity.hpp"
#include "structmat/core/export.hpp"

namespace structmat::cauchy {

template <ComplexScalar T>
void sums_on_roots_of_unity(const exec::cuda&, const MappedRootsView<T, space::cuda>&,
                            View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("cauchy::sums_on_roots_of_unity");
}
template <ComplexScalar T>
void sums_on_roots_of_unity_vjp(const exec::cuda&, const MappedRootsView<T, space::cuda>&,
                                View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
                                View<T, 2, space::cuda>, View<T, 3, space::cuda>) {
  absent("cauchy::sums_on_roots_of_unity_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT void sums_on_roots_of_unity(                                        \
      const exec::cuda&, const MappedRootsView<T, space::cuda>&, View<const T, 3, space::cuda>, \
      View<T, 3, space::cuda>);                                                                 \
  template STRUCTMAT_EXPORT void sums_on_roots_of_unity_vjp(                                    \
      const exec::cuda&, const MappedRootsView<T, space::cuda>&, View<const T, 3, space::cuda>, \
      View<const T, 3, space::cuda>, View<T, 2, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::cauchy
