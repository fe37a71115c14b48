#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/quasiseparable/apply_vjp.hpp"

namespace structmat {

template <Scalar T, transition::Uniform K>
index_t apply_vjp_workspace_bytes(const QuasiseparableView<T, K, space::cuda>&, index_t, index_t) {
  absent("quasiseparable::apply_vjp_workspace_bytes");
}

template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&, Op,
               View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,
               const QuasiseparableCotangent<T, K, space::cuda>&, View<T, 3, space::cuda>) {
  absent("quasiseparable::apply_vjp");
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(                         \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t, index_t);     \
  template STRUCTMAT_EXPORT void apply_vjp(                                            \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,                    \
      const QuasiseparableCotangent<T, transition::K, space::cuda>&, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
