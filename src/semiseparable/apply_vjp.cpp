#include "structmat/semiseparable/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "recurrence/block_vjp.hpp"
#include "recurrence/checked_cotangent.hpp"
#include "recurrence/triangles_vjp.hpp"
#include "recurrence/vjp_operands.hpp"

namespace structmat {
namespace {

/// The generators of M^T, or their cotangents, in the order of the upward sweep: position j has
/// transition A_{j+1} (see apply.cpp).
template <class Triangle, class M>
void arrange_transposed(const M& m, Triangle& up) {
  auto a = m.a;
  if constexpr (decltype(a)::rank == 4) a = a.transposed();
  if (a.data()) a = {a.data() + (a.extent(1) > 0 ? a.stride(1) : 0), a.extents(), a.strides()};
  up.out = m.b.reversed(1);
  up.in = m.c.reversed(1);
  up.transition = a.reversed(1);
}

}  // namespace

template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cpu& e, const SemiseparableView<T, K>& matrix, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const SemiseparableCotangent<T, K>& matrix_bar,
               View<T, 3> x_bar) {
  constexpr auto operation = "semiseparable::apply_vjp";
  const index_t n = matrix.size(), r = matrix.order();
  const index_t own = semiseparable::checked(matrix, operation).batch();
  const index_t batch = recurrence::check_vjp_operands(operation, own, n, x, y_bar, x_bar);
  const auto m = semiseparable::checked(matrix, operation, batch);
  SemiseparableCotangent<T, K> m_bar;
  m_bar.c = recurrence::checked_cotangent(operation, "c", matrix_bar.c, batch, n, r);
  m_bar.b = recurrence::checked_cotangent(operation, "b", matrix_bar.b, batch, n, r);
  m_bar.a = recurrence::checked_cotangent(operation, "a", matrix_bar.a, batch, n, r);

  recurrence::Triangles<T, K> t;
  recurrence::TrianglesCotangent<T, K> t_bar;
  if (op == Op::none) {
    t.down = {m.c, m.b, m.a, recurrence::Emit::after};
    t_bar.down = {m_bar.c, m_bar.b, m_bar.a};
  } else {
    t.up.emit = recurrence::Emit::after;
    arrange_transposed(m, t.up);
    arrange_transposed(m_bar, t_bar.up);
  }
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  recurrence::apply_vjp(e.threads, t, x.broadcast(0, batch), y_bar, t_bar, x_bar);
}

template <Scalar T>
void apply_vjp(const exec::cpu&, const Semiseparable<T, transition::Block>& m, Op op,
               View<const T, 3> x, View<const T, 3> y_bar,
               Semiseparable<T, transition::Block>* m_bar, View<T, 3> x_bar) {
  constexpr auto operation = "semiseparable::apply_vjp";
  const index_t batch =
      recurrence::check_vjp_operands(operation, m.batch(), m.size(), x, y_bar, x_bar);
  recurrence::BlockCotangent<T> bar{};
  if (m_bar) {
    bar = recurrence::checked_block_cotangent<T>(
        operation, {m.partition, &m.lower, nullptr, m.diagonal, true}, m_bar->partition, batch,
        {&m_bar->lower, nullptr, &m_bar->diagonal});
  }
  recurrence::apply_block_vjp<T>({m.partition, &m.lower, nullptr, m.diagonal, true}, op,
                                 x.broadcast(0, batch), y_bar, bar, x_bar);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                       \
  template STRUCTMAT_EXPORT void apply_vjp<T, transition::K>(                             \
      const exec::cpu&, const SemiseparableView<T, transition::K>&, Op, View<const T, 3>, \
      View<const T, 3>, const SemiseparableCotangent<T, transition::K>&, View<T, 3>);
#define STRUCTMAT_INSTANTIATE_KINDS(T)                                                    \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T)                                           \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                            \
      const exec::cpu&, const Semiseparable<T, transition::Block>&, Op, View<const T, 3>, \
      View<const T, 3>, Semiseparable<T, transition::Block>*, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat
