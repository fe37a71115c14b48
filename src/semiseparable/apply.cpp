#include "structmat/semiseparable/apply.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "recurrence/block_apply.hpp"
#include "recurrence/triangles.hpp"

namespace structmat {

template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const SemiseparableView<T, K>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "semiseparable::apply";
  require_chunks(operation, e);
  const index_t n = matrix.size();
  const index_t own = semiseparable::checked(matrix, operation).batch();
  const index_t batch = detail::check_operands(operation, own, n, n, x, y);
  const auto m = semiseparable::checked(matrix, operation, batch);

  recurrence::Triangles<T, K> t;
  if (op == Op::none) {
    t.down = {m.c, m.b, m.a, recurrence::Emit::after};
  } else {
    // t_j = A_{j+1}^T t_{j+1} + c_j x_j, y_j = b_j^T t_j: position j of the upward sweep has
    // transition A_{j+1}. For j = n-1 that is one past the end, where a sweep starts and reads
    // none.
    View<const T, K::rank> a = m.a;
    if constexpr (K::rank == 4) a = a.transposed();
    a = {a.data() + (n > 0 ? a.stride(1) : 0), a.extents(), a.strides()};
    t.up = {m.b.reversed(1), m.c.reversed(1), a.reversed(1), recurrence::Emit::after};
  }
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  recurrence::apply(e, t, x.broadcast(0, batch), y);
}

template <Scalar T>
void apply(const exec::cpu&, const Semiseparable<T, transition::Block>& m, Op op,
           View<const T, 3> x, View<T, 3> y) {
  const index_t n = m.size();
  const index_t batch = detail::check_operands("semiseparable::apply", m.batch(), n, n, x, y);
  recurrence::apply_block<T>({m.partition, &m.lower, nullptr, m.diagonal, true}, op,
                             x.broadcast(0, batch), y);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                       \
  template STRUCTMAT_EXPORT void apply<T, transition::K>(                                 \
      const exec::cpu&, const SemiseparableView<T, transition::K>&, Op, View<const T, 3>, \
      View<T, 3>);
#define STRUCTMAT_INSTANTIATE_KINDS(T)                                                    \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T)                                           \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&,                               \
                                          const Semiseparable<T, transition::Block>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat
