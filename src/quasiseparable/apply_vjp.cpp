#include "structmat/quasiseparable/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "quasiseparable/checked_cotangent.hpp"
#include "recurrence/block_vjp.hpp"
#include "recurrence/triangles_vjp.hpp"
#include "recurrence/vjp_operands.hpp"
#include "structmat/quasiseparable/transpose.hpp"

namespace structmat {

template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& matrix, Op op,
               View<const T, 3> x, View<const T, 3> y_bar,
               const QuasiseparableCotangent<T, K>& matrix_bar, View<T, 3> x_bar) {
  constexpr auto operation = "quasiseparable::apply_vjp";
  const index_t n = matrix.size();
  const index_t own = quasiseparable::checked(matrix, operation).batch();
  const index_t batch = recurrence::check_vjp_operands(operation, own, n, x, y_bar, x_bar);
  const auto given = quasiseparable::checked(matrix, operation, batch);
  const auto given_bar =
      quasiseparable::checked_cotangent(operation, matrix_bar, batch, n, matrix.order());
  const auto m = op == Op::none ? given : quasiseparable::transposed(given);
  const auto m_bar = op == Op::none ? given_bar : quasiseparable::transposed(given_bar);

  // The order of the two sweeps, as in apply.cpp.
  recurrence::Triangles<T, K> t;
  t.down = {m.p, m.q, m.a};
  t.up = {m.g.reversed(1), m.h.reversed(1), m.b.reversed(1)};
  recurrence::TrianglesCotangent<T, K> t_bar;
  t_bar.down = {m_bar.p, m_bar.q, m_bar.a};
  t_bar.up = {m_bar.g.reversed(1), m_bar.h.reversed(1), m_bar.b.reversed(1)};
  t.diagonal = m.d;
  t_bar.diagonal = m_bar.d;
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  recurrence::apply_vjp(e.threads, t, x.broadcast(0, batch), y_bar, t_bar, x_bar);
}

template <Scalar T>
void apply_vjp(const exec::cpu&, const Quasiseparable<T, transition::Block>& m, Op op,
               View<const T, 3> x, View<const T, 3> y_bar,
               Quasiseparable<T, transition::Block>* m_bar, View<T, 3> x_bar) {
  constexpr auto operation = "quasiseparable::apply_vjp";
  const index_t batch =
      recurrence::check_vjp_operands(operation, m.batch(), m.size(), x, y_bar, x_bar);
  recurrence::BlockCotangent<T> bar{};
  if (m_bar) {
    bar = recurrence::checked_block_cotangent<T>(
        operation, {m.partition, &m.lower, &m.upper_transposed, m.diagonal, false},
        m_bar->partition, batch, {&m_bar->lower, &m_bar->upper_transposed, &m_bar->diagonal});
  }
  recurrence::apply_block_vjp<T>({m.partition, &m.lower, &m.upper_transposed, m.diagonal, false},
                                 op, x.broadcast(0, batch), y_bar, bar, x_bar);
}

template <Scalar T, transition::Uniform K>
void solve_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m, Op op, View<const T, 3> x,
               View<const T, 3> b_bar, const QuasiseparableCotangent<T, K>& m_bar) {
  Array<T, 3> y_bar = to_array(b_bar);
  for (T& v : y_bar) v = -v;
  apply_vjp(e, m, op, x, std::as_const(y_bar).view(), m_bar, View<T, 3>{});
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                        \
  template STRUCTMAT_EXPORT void apply_vjp<T, transition::K>(                              \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, Op, View<const T, 3>, \
      View<const T, 3>, const QuasiseparableCotangent<T, transition::K>&, View<T, 3>);     \
  template STRUCTMAT_EXPORT void solve_vjp<T, transition::K>(                              \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, Op, View<const T, 3>, \
      View<const T, 3>, const QuasiseparableCotangent<T, transition::K>&);
#define STRUCTMAT_INSTANTIATE_KINDS(T)                                                     \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T)                                            \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                             \
      const exec::cpu&, const Quasiseparable<T, transition::Block>&, Op, View<const T, 3>, \
      View<const T, 3>, Quasiseparable<T, transition::Block>*, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat
