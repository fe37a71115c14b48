#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/displacement/plan.hpp"

namespace structmat::displacement {

template <Scalar T>
Plan<T, space::cuda>::Plan(const exec::cuda&, const Generators<T>&, const PlanOptions&) {
  absent("displacement::Plan");
}
template <Scalar T>
Plan<T, space::cuda>::Plan(const exec::cuda&, const std::vector<Generators<T>>&,
                           const PlanOptions&) {
  absent("displacement::Plan");
}
template <Scalar T>
index_t Plan<T, space::cuda>::batch() const {
  absent("displacement::Plan");
}
template <Scalar T>
index_t Plan<T, space::cuda>::rows() const {
  absent("displacement::Plan");
}
template <Scalar T>
index_t Plan<T, space::cuda>::cols() const {
  absent("displacement::Plan");
}
template <Scalar T>
index_t apply_workspace_bytes(const Plan<T, space::cuda>&, index_t, index_t) {
  absent("displacement::apply_workspace_bytes");
}
template <Scalar T>
void apply(const exec::cuda&, const Plan<T, space::cuda>&, Op, View<const T, 3, space::cuda>,
           View<T, 3, space::cuda>) {
  absent("displacement::apply");
}
template <Scalar T>
index_t to_dense_workspace_bytes(const Plan<T, space::cuda>&) {
  absent("displacement::to_dense_workspace_bytes");
}
template <Scalar T>
void to_dense(const exec::cuda&, const Plan<T, space::cuda>&, View<T, 3, space::cuda>) {
  absent("displacement::to_dense");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template class Plan<T, space::cuda>;                                                          \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const Plan<T, space::cuda>&, index_t, \
                                                          index_t);                             \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const Plan<T, space::cuda>&, Op,      \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>); \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(const Plan<T, space::cuda>&);      \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const Plan<T, space::cuda>&,       \
                                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
