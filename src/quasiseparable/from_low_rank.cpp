#include "structmat/quasiseparable/from_low_rank.hpp"

#include "core/instantiate.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {
namespace {

template <Scalar T>
Quasiseparable<T, transition::Scalar> sum(const char* operation, const View<const T, 2>& d,
                                          const View<const T, 3>& u, const View<const T, 3>& v) {
  const index_t n = u.extent(1), r = u.extent(2);
  recurrence::Shape shape(operation, 1, n);
  shape.require("d", d, 0);
  shape.require("U", u, r);
  shape.require("V", v, r);
  const index_t batch = shape.batch();
  const auto left = u.broadcast(0, batch), right = v.broadcast(0, batch);

  Quasiseparable<T, transition::Scalar> m(n, {r, r}, batch);
  for (auto* generator : {&m.p, &m.g}) copy(left, generator->view());
  for (auto* generator : {&m.q, &m.h}) copy(right, generator->view());
  for (auto* transitions : {&m.a, &m.b}) {
    for (T& one : *transitions) one = T{1};
  }
  copy(d.broadcast(0, batch), m.d.view());
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t k = 0; k < r; ++k) m.d(b, i) += left(b, i, k) * right(b, i, k);
    }
  }
  return m;
}

}  // namespace

template <Scalar T>
Quasiseparable<T, transition::Scalar> from_low_rank(View<const T, 3> u, View<const T, 3> v) {
  const T zero{};
  const View<const T, 2> zeros(&zero, {1, u.extent(1)}, {0, 0});
  return sum("quasiseparable::from_low_rank", zeros, u, v);
}

template <Scalar T>
Quasiseparable<T, transition::Scalar> from_diagonal_plus_low_rank(View<const T, 2> d,
                                                                  View<const T, 3> u,
                                                                  View<const T, 3> v) {
  return sum("quasiseparable::from_diagonal_plus_low_rank", d, u, v);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Scalar> from_low_rank<T>(               \
      View<const T, 3>, View<const T, 3>);                                                        \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Scalar> from_diagonal_plus_low_rank<T>( \
      View<const T, 2>, View<const T, 3>, View<const T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
