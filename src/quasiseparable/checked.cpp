#include "core/instantiate.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {

template <Scalar T, transition::Uniform K, class Space>
QuasiseparableView<T, K, Space> checked(QuasiseparableView<T, K, Space> m, const char* operation,
                                        index_t batch) {
  const Order order = m.order();
  recurrence::Shape shape(operation, batch, m.size());
  shape.require("d", m.d, 0);
  shape.require("p", m.p, order.lower);
  shape.require("q", m.q, order.lower);
  shape.require("a", m.a, order.lower);
  shape.require("g", m.g, order.upper);
  shape.require("h", m.h, order.upper);
  shape.require("b", m.b, order.upper);
  const index_t all = shape.batch();
  return {m.p.broadcast(0, all), m.q.broadcast(0, all), m.a.broadcast(0, all),
          m.d.broadcast(0, all), m.g.broadcast(0, all), m.h.broadcast(0, all),
          m.b.broadcast(0, all)};
}

#define STRUCTMAT_INSTANTIATE(T, K, S)                                                             \
  template STRUCTMAT_EXPORT QuasiseparableView<T, transition::K, space::S>                         \
  checked<T, transition::K, space::S>(QuasiseparableView<T, transition::K, space::S>, const char*, \
                                      index_t);
#define STRUCTMAT_INSTANTIATE_SPACES(T)    \
  STRUCTMAT_INSTANTIATE(T, Scalar, host)   \
  STRUCTMAT_INSTANTIATE(T, Diagonal, host) \
  STRUCTMAT_INSTANTIATE(T, Dense, host)    \
  STRUCTMAT_INSTANTIATE(T, Scalar, cuda)   \
  STRUCTMAT_INSTANTIATE(T, Diagonal, cuda) \
  STRUCTMAT_INSTANTIATE(T, Dense, cuda)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_SPACES)

}  // namespace structmat::quasiseparable
