#include "structmat/semiseparable/from_state_space.hpp"

#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"

namespace structmat {

namespace semiseparable {

template <Scalar T, transition::Uniform K>
FromStateSpace<T, K> from_state_space(const StateSpaceView<T, K>& model, index_t n) {
  const auto m = checked(model, "semiseparable::from_state_space", 1, n);
  FromStateSpace<T, K> result{Semiseparable<T, K>(n, m.order(), m.d.extent(0)), to_array(m.d)};
  copy(m.c, result.matrix.c.view());
  copy(m.b, result.matrix.b.view());
  copy(m.a, result.matrix.a.view());
  return result;
}

template <Scalar T, transition::Uniform K>
StateSpace<T, K> to_state_space(const SemiseparableView<T, K>& matrix, View<const T, 2> d) {
  constexpr auto operation = "semiseparable::to_state_space";
  const auto s = checked(matrix, operation);
  const auto m = checked(StateSpaceView<T, K>{s.a, s.b, s.c, d}, operation, 1, s.size());
  StateSpace<T, K> model(s.size(), s.order(), m.d.extent(0));
  copy(m.a, model.a.view());
  copy(m.b, model.b.view());
  copy(m.c, model.c.view());
  copy(m.d, model.d.view());
  return model;
}

}  // namespace semiseparable

namespace quasiseparable {
namespace {

/// p := a^T c
template <Scalar T, transition::Uniform K>
void transposed_product(const View<const T, K::rank - 1>& a, index_t i, const View<const T, 1>& c,
                        const View<T, 1>& p) {
  const index_t r = c.extent(0);
  for (index_t l = 0; l < r; ++l) {
    if constexpr (K::rank == 2) p(l) = a(i) * c(l);
    if constexpr (K::rank == 3) p(l) = a(i, l) * c(l);
    if constexpr (K::rank == 4) {
      T sum{};
      for (index_t k = 0; k < r; ++k) sum += a(i, k, l) * c(k);
      p(l) = sum;
    }
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_state_space(const StateSpaceView<T, K>& model, index_t n, Output output) {
  const auto m = semiseparable::checked(model, "quasiseparable::from_state_space", 1, n);
  const index_t batch = m.d.extent(0), r = m.order();
  Quasiseparable<T, K> q(n, {r, 0}, batch);
  copy(m.a, q.a.view());
  copy(m.b, q.q.view());
  copy(m.d, q.d.view());
  if (output == Output::before_input) {
    copy(m.c, q.p.view());
    return q;
  }
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {
      transposed_product<T, K>(m.a.select(0, b), i, m.c.select(0, b).select(0, i),
                               q.p.view().select(0, b).select(0, i));
      for (index_t l = 0; l < r; ++l) q.d(b, i) += m.c(b, i, l) * m.b(b, i, l);
    }
  }
  return q;
}

template <Scalar T, transition::Uniform K>
StateSpace<T, K> to_state_space(const QuasiseparableView<T, K>& matrix) {
  const auto m = checked(matrix, "quasiseparable::to_state_space");
  StateSpace<T, K> model(m.size(), m.order().lower, m.batch());
  copy(m.a, model.a.view());
  copy(m.q, model.b.view());
  copy(m.p, model.c.view());
  copy(m.d, model.d.view());
  return model;
}

}  // namespace quasiseparable

#define STRUCTMAT_INSTANTIATE(T, K)                                                           \
  template STRUCTMAT_EXPORT semiseparable::FromStateSpace<T, transition::K>                   \
  semiseparable::from_state_space<T, transition::K>(const StateSpaceView<T, transition::K>&,  \
                                                    index_t);                                 \
  template STRUCTMAT_EXPORT StateSpace<T, transition::K>                                      \
  semiseparable::to_state_space<T, transition::K>(const SemiseparableView<T, transition::K>&, \
                                                  View<const T, 2>);                          \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K>                                  \
  quasiseparable::from_state_space<T, transition::K>(const StateSpaceView<T, transition::K>&, \
                                                     index_t, Output);                        \
  template STRUCTMAT_EXPORT StateSpace<T, transition::K>                                      \
  quasiseparable::to_state_space<T, transition::K>(const QuasiseparableView<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
