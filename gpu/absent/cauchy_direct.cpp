#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/cauchy/apply.hpp"
#include "structmat/cauchy/apply_vjp.hpp"
#include "structmat/cauchy/conjugate_sums.hpp"

namespace structmat {

template <Scalar T>
index_t apply_workspace_bytes(const CauchyView<T, space::cuda>&, index_t, index_t) {
  absent("cauchy::apply_workspace_bytes");
}
template <Scalar T>
index_t apply_workspace_bytes(const CauchyLikeView<T, space::cuda>&, index_t, index_t) {
  absent("cauchy::apply_workspace_bytes");
}
template <Scalar T>
void apply(const exec::cuda&, const CauchyView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,
           View<T, 3, space::cuda>) {
  absent("cauchy::apply");
}
template <Scalar T>
void apply(const exec::cuda&, const CauchyLikeView<T, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("cauchy::apply");
}

template <Scalar T>
index_t apply_vjp_workspace_bytes(const CauchyView<T, space::cuda>&, index_t, index_t) {
  absent("cauchy::apply_vjp_workspace_bytes");
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const CauchyLikeView<T, space::cuda>&, index_t, index_t) {
  absent("cauchy::apply_vjp_workspace_bytes");
}
template <Scalar T>
void apply_vjp(const exec::cuda&, const CauchyView<T, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               const CauchyCotangent<T, space::cuda>&, View<T, 3, space::cuda>) {
  absent("cauchy::apply_vjp");
}
template <Scalar T>
void apply_vjp(const exec::cuda&, const CauchyLikeView<T, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               const CauchyLikeCotangent<T, space::cuda>&, View<T, 3, space::cuda>) {
  absent("cauchy::apply_vjp");
}

namespace cauchy {

template <ComplexScalar T>
index_t conjugate_sums_workspace_bytes(index_t, index_t, index_t) {
  absent("cauchy::conjugate_sums_workspace_bytes");
}
template <ComplexScalar T>
index_t conjugate_sums_vjp_workspace_bytes(index_t, index_t, index_t) {
  absent("cauchy::conjugate_sums_vjp_workspace_bytes");
}
template <ComplexScalar T>
void conjugate_sums(const exec::cuda&, View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,
                    View<const T, 2, space::cuda>, View<T, 2, space::cuda>) {
  absent("cauchy::conjugate_sums");
}
template <ComplexScalar T>
void conjugate_sums_vjp(const exec::cuda&, View<const T, 2, space::cuda>,
                        View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,
                        View<const T, 2, space::cuda>,
                        const ConjugateSumsCotangent<T, space::cuda>&) {
  absent("cauchy::conjugate_sums_vjp");
}

}  // namespace cauchy

#define STRUCTMAT_INSTANTIATE_VIEW(V, Cotangent, T)                                              \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const V<T, space::cuda>&, index_t,     \
                                                          index_t);                              \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const V<T, space::cuda>&, Op,          \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);  \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const V<T, space::cuda>&, index_t, \
                                                              index_t);                          \
  template STRUCTMAT_EXPORT void apply_vjp(                                                      \
      const exec::cuda&, const V<T, space::cuda>&, Op, View<const T, 3, space::cuda>,            \
      View<const T, 3, space::cuda>, const Cotangent<T, space::cuda>&, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                             \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, CauchyCotangent, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, CauchyLikeCotangent, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#undef STRUCTMAT_INSTANTIATE

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT index_t cauchy::conjugate_sums_workspace_bytes<T>(index_t, index_t, \
                                                                              index_t);         \
  template STRUCTMAT_EXPORT index_t cauchy::conjugate_sums_vjp_workspace_bytes<T>(              \
      index_t, index_t, index_t);                                                               \
  template STRUCTMAT_EXPORT void cauchy::conjugate_sums(                                        \
      const exec::cuda&, View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,          \
      View<const T, 2, space::cuda>, View<T, 2, space::cuda>);                                  \
  template STRUCTMAT_EXPORT void cauchy::conjugate_sums_vjp(                                    \
      const exec::cuda&, View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,          \
      View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,                             \
      const cauchy::ConjugateSumsCotangent<T, space::cuda>&);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat
