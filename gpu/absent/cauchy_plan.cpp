#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/cauchy/plan.hpp"

namespace structmat {

template <Scalar T>
CauchyPlan<T, space::cuda>::CauchyPlan(const CauchyView<T, space::cuda>&,
                                       const cauchy::PlanOptions&, const exec::cuda&) {
  absent("cauchy::plan");
}
template <Scalar T>
CauchyPlan<T, space::cuda>::CauchyPlan(const CauchyLikeView<T, space::cuda>&,
                                       const cauchy::PlanOptions&, const exec::cuda&) {
  absent("cauchy::plan");
}

template <Scalar T>
index_t CauchyPlan<T, space::cuda>::batch() const {
  absent("cauchy::plan");
}
template <Scalar T>
index_t CauchyPlan<T, space::cuda>::rows() const {
  absent("cauchy::plan");
}
template <Scalar T>
index_t CauchyPlan<T, space::cuda>::cols() const {
  absent("cauchy::plan");
}
template <Scalar T>
cauchy::Method CauchyPlan<T, space::cuda>::method() const {
  absent("cauchy::plan");
}

template <Scalar T>
void apply(const exec::cuda&, const CauchyPlan<T, space::cuda>&, Op, View<const T, 3, space::cuda>,
           View<T, 3, space::cuda>) {
  absent("cauchy::apply");
}
template <Scalar T>
index_t apply_workspace_bytes(const CauchyPlan<T, space::cuda>&, index_t) {
  absent("cauchy::apply_workspace_bytes");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template class STRUCTMAT_EXPORT CauchyPlan<T, space::cuda>;                                   \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&, const CauchyPlan<T, space::cuda>&, \
                                          Op, View<const T, 3, space::cuda>,                    \
                                          View<T, 3, space::cuda>);                             \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(const CauchyPlan<T, space::cuda>&, \
                                                             index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
