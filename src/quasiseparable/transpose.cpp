#include "structmat/quasiseparable/transpose.hpp"

#include "core/instantiate.hpp"
#include "structmat/quasiseparable/with_transition.hpp"

namespace structmat::quasiseparable {

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> transpose(const QuasiseparableView<T, K>& m) {
  return with_transition<K>(transposed(checked(m, "quasiseparable::transpose")));
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> adjoint(const QuasiseparableView<T, K>& m) {
  auto c = with_transition<K>(transposed(checked(m, "quasiseparable::adjoint")));
  const auto conjugate_all = [](auto& generator) {
    for (T& v : generator) v = conjugate(v);
  };
  for (auto* generator : {&c.p, &c.q, &c.g, &c.h}) conjugate_all(*generator);
  conjugate_all(c.a);
  conjugate_all(c.b);
  conjugate_all(c.d);
  return c;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                       \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> transpose<T, transition::K>( \
      const QuasiseparableView<T, transition::K>&);                                       \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> adjoint<T, transition::K>(   \
      const QuasiseparableView<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
