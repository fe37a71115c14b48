#include "structmat/quasiseparable/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "quasiseparable/checked_cotangent.hpp"
#include "recurrence/block_vjp.hpp"
#include "recurrence/triangles_vjp.hpp"
#include "recurrence/vjp_operands.hpp"

namespace structmat {
namespace {

template <class V>
V transposed(const V& a) {
  if constexpr (V::rank == 4) return a.transposed();
  return a;
}

/// The generators of op(M), or their cotangents, in the order of the two sweeps (see apply.cpp).
template <class Triangle, class M>
void arrange(const M& m, Op op, Triangle& down, Triangle& up) {
  if (op == Op::none) {
    down = {m.p, m.q, m.a};
    up = {m.g.reversed(1), m.h.reversed(1), m.b.reversed(1)};
  } else {
    down = {m.h, m.g, transposed(m.b)};
    up = {m.q.reversed(1), m.p.reversed(1), transposed(m.a).reversed(1)};
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& matrix, Op op,
               View<const T, 3> x, View<const T, 3> y_bar,
               const QuasiseparableCotangent<T, K>& matrix_bar, View<T, 3> x_bar) {
  constexpr auto operation = "quasiseparable::apply_vjp";
  const index_t n = matrix.size();
  const index_t own = quasiseparable::checked(matrix, operation).batch();
  const index_t batch = recurrence::check_vjp_operands(operation, own, n, x, y_bar, x_bar);
  const auto m = quasiseparable::checked(matrix, operation, batch);
  const auto m_bar =
      quasiseparable::checked_cotangent(operation, matrix_bar, batch, n, matrix.order());

  recurrence::Triangles<T, K> t;
  recurrence::TrianglesCotangent<T, K> t_bar;
  arrange(m, op, t.down, t.up);
  arrange(m_bar, op, t_bar.down, t_bar.up);
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
