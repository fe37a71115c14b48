#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/quasiseparable/log_likelihood.hpp"

namespace structmat::quasiseparable {

template <Scalar T, transition::Uniform K>
void factor_ldl(const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&, const LdlOptions&,
                View<T, 3, space::cuda>, View<real_t<T>, 2, space::cuda>,
                View<PivotStatus, 1, space::cuda>) {
  absent("quasiseparable::factor_ldl");
}
template <Scalar T, transition::Uniform K>
index_t factor_ldl_workspace_bytes(const QuasiseparableView<T, K, space::cuda>&,
                                   const LdlOptions&) {
  absent("quasiseparable::factor_ldl_workspace_bytes");
}

template <Scalar T, transition::Uniform K>
void ldl_apply(const exec::cuda&, const LdlView<T, K, space::cuda>&, LdlPart,
               View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("quasiseparable::ldl_apply");
}
template <Scalar T, transition::Uniform K>
index_t ldl_apply_workspace_bytes(const LdlView<T, K, space::cuda>&, index_t, index_t) {
  absent("quasiseparable::ldl_apply_workspace_bytes");
}

template <Scalar T, transition::Uniform K>
void log_determinant(const exec::cuda&, const LdlView<T, K, space::cuda>&,
                     View<LogDeterminant<T>, 1, space::cuda>) {
  absent("quasiseparable::log_determinant");
}
template <Scalar T, transition::Uniform K>
index_t log_determinant_workspace_bytes(const LdlView<T, K, space::cuda>&) {
  absent("quasiseparable::log_determinant_workspace_bytes");
}

template <Scalar T, transition::Uniform K>
void log_likelihood(const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&,
                    View<const T, 2, space::cuda>, View<double, 1, space::cuda>,
                    View<PivotStatus, 1, space::cuda>) {
  absent("quasiseparable::log_likelihood");
}
template <Scalar T, transition::Uniform K>
index_t log_likelihood_workspace_bytes(const QuasiseparableView<T, K, space::cuda>&, index_t) {
  absent("quasiseparable::log_likelihood_workspace_bytes");
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                             \
  template STRUCTMAT_EXPORT void factor_ldl(                                                    \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&,              \
      const LdlOptions&, View<T, 3, space::cuda>, View<real_t<T>, 2, space::cuda>,              \
      View<PivotStatus, 1, space::cuda>);                                                       \
  template STRUCTMAT_EXPORT index_t factor_ldl_workspace_bytes(                                 \
      const QuasiseparableView<T, transition::K, space::cuda>&, const LdlOptions&);             \
  template STRUCTMAT_EXPORT void ldl_apply(                                                     \
      const exec::cuda&, const LdlView<T, transition::K, space::cuda>&, LdlPart,                \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);                                  \
  template STRUCTMAT_EXPORT index_t ldl_apply_workspace_bytes(                                  \
      const LdlView<T, transition::K, space::cuda>&, index_t, index_t);                         \
  template STRUCTMAT_EXPORT void log_determinant(const exec::cuda&,                             \
                                                 const LdlView<T, transition::K, space::cuda>&, \
                                                 View<LogDeterminant<T>, 1, space::cuda>);      \
  template STRUCTMAT_EXPORT index_t log_determinant_workspace_bytes(                            \
      const LdlView<T, transition::K, space::cuda>&);                                           \
  template STRUCTMAT_EXPORT void log_likelihood(                                                \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&,              \
      View<const T, 2, space::cuda>, View<double, 1, space::cuda>,                              \
      View<PivotStatus, 1, space::cuda>);                                                       \
  template STRUCTMAT_EXPORT index_t log_likelihood_workspace_bytes(                             \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
