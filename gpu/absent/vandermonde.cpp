#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "structmat/vandermonde/apply_vjp.hpp"
#include "structmat/vandermonde/exponential_sum.hpp"

namespace structmat {

template <Scalar T>
index_t apply_workspace_bytes(const VandermondeView<T, space::cuda>&, index_t) {
  absent("vandermonde::apply_workspace_bytes");
}
template <Scalar T>
index_t apply_workspace_bytes(const LogVandermondeView<T, space::cuda>&, index_t) {
  absent("vandermonde::apply_workspace_bytes");
}
template <Scalar T>
void apply(const exec::cuda&, const VandermondeView<T, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("vandermonde::apply");
}
template <Scalar T>
void apply(const exec::cuda&, const LogVandermondeView<T, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("vandermonde::apply");
}

template <Scalar T>
index_t apply_vjp_workspace_bytes(const VandermondeView<T, space::cuda>&, index_t, index_t) {
  absent("vandermonde::apply_vjp_workspace_bytes");
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const LogVandermondeView<T, space::cuda>&, index_t, index_t) {
  absent("vandermonde::apply_vjp_workspace_bytes");
}
template <Scalar T>
void apply_vjp(const exec::cuda&, const VandermondeView<T, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               View<T, 2, space::cuda>, View<T, 3, space::cuda>) {
  absent("vandermonde::apply_vjp");
}
template <Scalar T>
void apply_vjp(const exec::cuda&, const LogVandermondeView<T, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               View<T, 2, space::cuda>, View<T, 3, space::cuda>) {
  absent("vandermonde::apply_vjp");
}

template <ComplexScalar T>
void real_exponential_sum(const exec::cuda&, const LogVandermondeView<T, space::cuda>&,
                          View<const T, 3, space::cuda>, View<real_t<T>, 3, space::cuda>) {
  absent("vandermonde::real_exponential_sum");
}
template <ComplexScalar T>
index_t real_exponential_sum_vjp_workspace_bytes(const LogVandermondeView<T, space::cuda>&, index_t,
                                                 index_t) {
  absent("vandermonde::real_exponential_sum_vjp_workspace_bytes");
}
template <ComplexScalar T>
void real_exponential_sum_vjp(const exec::cuda&, const LogVandermondeView<T, space::cuda>&,
                              View<const T, 3, space::cuda>, View<const real_t<T>, 3, space::cuda>,
                              View<T, 2, space::cuda>, View<T, 3, space::cuda>) {
  absent("vandermonde::real_exponential_sum_vjp");
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                         \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const V<T, space::cuda>&, index_t);    \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const V<T, space::cuda>&, Op,          \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);  \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const V<T, space::cuda>&, index_t, \
                                                              index_t);                          \
  template STRUCTMAT_EXPORT void apply_vjp(                                                      \
      const exec::cuda&, const V<T, space::cuda>&, Op, View<const T, 3, space::cuda>,            \
      View<const T, 3, space::cuda>, View<T, 2, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                 \
  STRUCTMAT_INSTANTIATE_VIEW(VandermondeView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(LogVandermondeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#undef STRUCTMAT_INSTANTIATE

#define STRUCTMAT_INSTANTIATE(R)                                                  \
  template STRUCTMAT_EXPORT void real_exponential_sum(                            \
      const exec::cuda&, const LogVandermondeView<std::complex<R>, space::cuda>&, \
      View<const std::complex<R>, 3, space::cuda>, View<R, 3, space::cuda>);      \
  template STRUCTMAT_EXPORT index_t real_exponential_sum_vjp_workspace_bytes(     \
      const LogVandermondeView<std::complex<R>, space::cuda>&, index_t, index_t); \
  template STRUCTMAT_EXPORT void real_exponential_sum_vjp(                        \
      const exec::cuda&, const LogVandermondeView<std::complex<R>, space::cuda>&, \
      View<const std::complex<R>, 3, space::cuda>, View<const R, 3, space::cuda>, \
      View<std::complex<R>, 2, space::cuda>, View<std::complex<R>, 3, space::cuda>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)

}  // namespace structmat
