#include "structmat/quasiseparable/apply.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "recurrence/block_apply.hpp"
#include "recurrence/triangles.hpp"
#include "structmat/quasiseparable/transpose.hpp"

namespace structmat {

// Sweeping down, the lower triangle reads x with q and writes y with p; sweeping up, the upper one
// reads with h and writes with g.
template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const QuasiseparableView<T, K>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "quasiseparable::apply";
  require_chunks(operation, e);
  const index_t n = matrix.size();
  const index_t own = quasiseparable::checked(matrix, operation).batch();
  const index_t batch = detail::check_operands(operation, own, n, n, x, y);
  const auto given = quasiseparable::checked(matrix, operation, batch);
  const auto m = op == Op::none ? given : quasiseparable::transposed(given);

  recurrence::Triangles<T, K> t;
  t.down = {m.p, m.q, m.a};
  t.up = {m.g.reversed(1), m.h.reversed(1), m.b.reversed(1)};
  t.diagonal = m.d;
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  recurrence::apply(e, t, x.broadcast(0, batch), y);
}

template <Scalar T>
void apply(const exec::cpu&, const Quasiseparable<T, transition::Block>& m, Op op,
           View<const T, 3> x, View<T, 3> y) {
  const index_t n = m.size();
  const index_t batch = detail::check_operands("quasiseparable::apply", m.batch(), n, n, x, y);
  recurrence::apply_block<T>({m.partition, &m.lower, &m.upper_transposed, m.diagonal, false}, op,
                             x.broadcast(0, batch), y);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                        \
  template STRUCTMAT_EXPORT void apply<T, transition::K>(                                  \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, Op, View<const T, 3>, \
      View<T, 3>);
#define STRUCTMAT_INSTANTIATE_KINDS(T)                                                     \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T)                                            \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&,                                \
                                          const Quasiseparable<T, transition::Block>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat
