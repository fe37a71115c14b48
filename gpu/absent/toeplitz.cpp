#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/toeplitz/apply.hpp"
#include "structmat/toeplitz/apply_vjp.hpp"
#include "structmat/toeplitz/plan.hpp"

namespace structmat {

#define STRUCTMAT_ABSENT_FAMILY(M, family)                                                       \
  template <Scalar T>                                                                            \
  void apply(const exec::cuda&, const M<T, space::cuda>&, Op, View<const T, 3, space::cuda>,     \
             View<T, 3, space::cuda>) {                                                          \
    absent(family "::apply");                                                                    \
  }                                                                                              \
  template <Scalar T>                                                                            \
  void apply_vjp(const exec::cuda&, const M<T, space::cuda>&, Op, View<const T, 3, space::cuda>, \
                 View<const T, 3, space::cuda>, View<T, 2, space::cuda>,                         \
                 View<T, 3, space::cuda>) {                                                      \
    absent(family "::apply_vjp");                                                                \
  }
STRUCTMAT_ABSENT_FAMILY(ToeplitzView, "toeplitz")
STRUCTMAT_ABSENT_FAMILY(HankelView, "hankel")
STRUCTMAT_ABSENT_FAMILY(CirculantView, "circulant")
STRUCTMAT_ABSENT_FAMILY(SkewCirculantView, "skew_circulant")
STRUCTMAT_ABSENT_FAMILY(ToeplitzPlan, "toeplitz")

#define STRUCTMAT_ABSENT_PLAN(M)                                                          \
  template <Scalar T>                                                                     \
  ToeplitzPlan<T, space::cuda>::ToeplitzPlan(const exec::cuda&, const M<T, space::cuda>&, \
                                             const toeplitz::PlanOptions&) {              \
    absent("toeplitz::plan");                                                             \
  }
STRUCTMAT_ABSENT_PLAN(ToeplitzView)
STRUCTMAT_ABSENT_PLAN(HankelView)
STRUCTMAT_ABSENT_PLAN(CirculantView)
STRUCTMAT_ABSENT_PLAN(SkewCirculantView)

#define STRUCTMAT_ABSENT_MEMBER(Result, name)         \
  template <Scalar T>                                 \
  Result ToeplitzPlan<T, space::cuda>::name() const { \
    absent("toeplitz::plan");                         \
  }
STRUCTMAT_ABSENT_MEMBER(index_t, batch)
STRUCTMAT_ABSENT_MEMBER(index_t, rows)
STRUCTMAT_ABSENT_MEMBER(index_t, cols)
STRUCTMAT_ABSENT_MEMBER(toeplitz::Method, method)
STRUCTMAT_ABSENT_MEMBER(index_t, block_length)
STRUCTMAT_ABSENT_MEMBER(bool, is_hankel)
template <Scalar T>
ToeplitzView<T, space::cuda> ToeplitzPlan<T, space::cuda>::lags() const {
  absent("toeplitz::plan");
}

template <Scalar T>
index_t apply_workspace_bytes(const ToeplitzPlan<T, space::cuda>&, index_t, index_t) {
  absent("toeplitz::apply_workspace_bytes");
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const ToeplitzPlan<T, space::cuda>&, index_t, index_t) {
  absent("toeplitz::apply_vjp_workspace_bytes");
}

#define STRUCTMAT_INSTANTIATE_FAMILY(T, M)                                                      \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const M<T, space::cuda>&, Op,         \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>); \
  template STRUCTMAT_EXPORT void apply_vjp(                                                     \
      const exec::cuda&, const M<T, space::cuda>&, Op, View<const T, 3, space::cuda>,           \
      View<const T, 3, space::cuda>, View<T, 2, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  STRUCTMAT_INSTANTIATE_FAMILY(T, ToeplitzView)                                                    \
  STRUCTMAT_INSTANTIATE_FAMILY(T, HankelView)                                                      \
  STRUCTMAT_INSTANTIATE_FAMILY(T, CirculantView)                                                   \
  STRUCTMAT_INSTANTIATE_FAMILY(T, SkewCirculantView)                                               \
  STRUCTMAT_INSTANTIATE_FAMILY(T, ToeplitzPlan)                                                    \
  template class ToeplitzPlan<T, space::cuda>;                                                     \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const ToeplitzPlan<T, space::cuda>&,     \
                                                          index_t, index_t);                       \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const ToeplitzPlan<T, space::cuda>&, \
                                                              index_t, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
