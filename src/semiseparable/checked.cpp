#include "core/instantiate.hpp"
#include "structmat/recurrence/shape.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat::semiseparable {

template <Scalar T, transition::Uniform K, class Space>
SemiseparableView<T, K, Space> checked(SemiseparableView<T, K, Space> m, const char* operation,
                                       index_t batch) {
  recurrence::Shape shape(operation, batch, m.size());
  shape.require("c", m.c, m.order());
  shape.require("b", m.b, m.order());
  shape.require("a", m.a, m.order());
  const index_t all = shape.batch();
  return {m.c.broadcast(0, all), m.b.broadcast(0, all), m.a.broadcast(0, all)};
}

#define STRUCTMAT_INSTANTIATE(T, K, S)                                                            \
  template STRUCTMAT_EXPORT SemiseparableView<T, transition::K, space::S>                         \
  checked<T, transition::K, space::S>(SemiseparableView<T, transition::K, space::S>, const char*, \
                                      index_t);
#define STRUCTMAT_INSTANTIATE_SPACES(T)    \
  STRUCTMAT_INSTANTIATE(T, Scalar, host)   \
  STRUCTMAT_INSTANTIATE(T, Diagonal, host) \
  STRUCTMAT_INSTANTIATE(T, Dense, host)    \
  STRUCTMAT_INSTANTIATE(T, Scalar, cuda)   \
  STRUCTMAT_INSTANTIATE(T, Diagonal, cuda) \
  STRUCTMAT_INSTANTIATE(T, Dense, cuda)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_SPACES)

}  // namespace structmat::semiseparable
