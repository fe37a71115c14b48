#include "structmat/quasiseparable/from_companion.hpp"

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
Quasiseparable<T, transition::Scalar> from_companion(View<const T, 2> coefficients) {
  const index_t batch = coefficients.extent(0), n = coefficients.extent(1);
  Quasiseparable<T, transition::Scalar> m(n, {1, 1}, batch);
  for (T& one : m.b) one = T{1};
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i + 1 < n; ++i) {
      m.p(b, i + 1, 0) = m.q(b, i, 0) = T{1};
      m.g(b, i, 0) = -coefficients(b, i);
    }
    if (n == 0) continue;
    m.h(b, n - 1, 0) = T{1};
    m.d(b, n - 1) = -coefficients(b, n - 1);
  }
  return m;
}

#define STRUCTMAT_INSTANTIATE(T)                                                     \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Scalar> from_companion<T>( \
      View<const T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
