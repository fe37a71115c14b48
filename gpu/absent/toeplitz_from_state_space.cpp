#include "absent.hpp"
#include "structmat/toeplitz/from_state_space.hpp"

namespace structmat::toeplitz {

template <ComplexScalar T>
struct S4Plan<T>::State {};

template <ComplexScalar T>
S4Plan<T>::S4Plan(index_t, index_t) {
  absent("toeplitz::S4Plan");
}
template <ComplexScalar T>
index_t s4d_kernel_workspace_bytes(const DiagonalModel<T, space::cuda>&) {
  absent("toeplitz::s4d_kernel_workspace_bytes");
}
template <ComplexScalar T>
void s4d_kernel(const exec::cuda&, const DiagonalModel<T, space::cuda>&,
                View<real_t<T>, 2, space::cuda>) {
  absent("toeplitz::s4d_kernel");
}
template <ComplexScalar T>
index_t s4_kernel_workspace_bytes(const S4Plan<T>&, index_t) {
  absent("toeplitz::s4_kernel_workspace_bytes");
}
template <ComplexScalar T>
void s4_kernel(const exec::cuda&, const S4Plan<T>&, const DiagonalPlusRankOneModel<T, space::cuda>&,
               View<T, 2, space::cuda>) {
  absent("toeplitz::s4_kernel");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT index_t s4d_kernel_workspace_bytes(                                  \
      const DiagonalModel<T, space::cuda>&);                                                     \
  template STRUCTMAT_EXPORT void s4d_kernel(                                                     \
      const exec::cuda&, const DiagonalModel<T, space::cuda>&, View<real_t<T>, 2, space::cuda>); \
  template class STRUCTMAT_EXPORT S4Plan<T>;                                                     \
  template STRUCTMAT_EXPORT index_t s4_kernel_workspace_bytes(const S4Plan<T>&, index_t);        \
  template STRUCTMAT_EXPORT void s4_kernel(const exec::cuda&, const S4Plan<T>&,                  \
                                           const DiagonalPlusRankOneModel<T, space::cuda>&,      \
                                           View<T, 2, space::cuda>);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::toeplitz
