#include "absent.hpp"
#include "structmat/quasiseparable/apply.hpp"

namespace structmat {

template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) index_t
    apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>&, index_t) {
  absent("quasiseparable::apply_workspace_bytes");
}

template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) void apply(
    const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&, Op,
    View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("quasiseparable::apply");
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_INSTANTIATE(float, Scalar)
STRUCTMAT_INSTANTIATE(float, Diagonal)
STRUCTMAT_INSTANTIATE(double, Scalar)
STRUCTMAT_INSTANTIATE(double, Diagonal)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat
