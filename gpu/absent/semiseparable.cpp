#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/semiseparable/apply.hpp"

namespace structmat {

template <Scalar T, transition::Uniform K>
index_t apply_workspace_bytes(const SemiseparableView<T, K, space::cuda>&, index_t) {
  absent("semiseparable::apply_workspace_bytes");
}

template <Scalar T, transition::Uniform K>
void apply(const exec::cuda&, const SemiseparableView<T, K, space::cuda>&, Op,
           View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("semiseparable::apply");
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                   \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                            \
      const SemiseparableView<T, transition::K, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                               \
      const exec::cuda&, const SemiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
