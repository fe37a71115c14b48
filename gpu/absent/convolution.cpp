#include "structmat/toeplitz/convolution.hpp"

#include "absent.hpp"
#include "core/instantiate.hpp"

namespace structmat::toeplitz {

template <Scalar T>
index_t convolve_workspace_bytes(View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
                                 View<const T, 3, space::cuda>) {
  absent("toeplitz::convolve_workspace_bytes");
}
template <Scalar T>
index_t convolve_vjp_workspace_bytes(View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
                                     View<const T, 3, space::cuda>) {
  absent("toeplitz::convolve_vjp_workspace_bytes");
}
template <Scalar T>
void convolve(const exec::cuda&, View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
              View<T, 3, space::cuda>) {
  absent("toeplitz::convolve");
}
template <Scalar T>
void convolve(const exec::cuda&, View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
              View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("toeplitz::convolve");
}
template <Scalar T>
void convolve_vjp(const exec::cuda&, View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
                  View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
                  View<T, 3, space::cuda>, View<T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("toeplitz::convolve_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT index_t convolve_workspace_bytes(View<const T, 3, space::cuda>,        \
                                                             View<const T, 3, space::cuda>,        \
                                                             View<const T, 3, space::cuda>);       \
  template STRUCTMAT_EXPORT index_t convolve_vjp_workspace_bytes(View<const T, 3, space::cuda>,    \
                                                                 View<const T, 3, space::cuda>,    \
                                                                 View<const T, 3, space::cuda>);   \
  template STRUCTMAT_EXPORT void convolve(const exec::cuda&, View<const T, 3, space::cuda>,        \
                                          View<const T, 3, space::cuda>, View<T, 3, space::cuda>); \
  template STRUCTMAT_EXPORT void convolve(const exec::cuda&, View<const T, 3, space::cuda>,        \
                                          View<const T, 3, space::cuda>,                           \
                                          View<const T, 3, space::cuda>, View<T, 3, space::cuda>); \
  template STRUCTMAT_EXPORT void convolve_vjp(                                                     \
      const exec::cuda&, View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,             \
      View<const T, 3, space::cuda>, View<const T, 3, space::cuda>, View<T, 3, space::cuda>,       \
      View<T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
