#include "structmat/semiseparable/apply.hpp"

#include "core/instantiate.hpp"
#include "recurrence/apply.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "semiseparable::apply";

/// op(M) on operands that are set later.
template <class T, class K>
gpu::recurrence::Triangles<gpu::device_scalar_t<T>> triangles(
    const SemiseparableView<T, K, space::cuda>& m, Op op) {
  using gpu::strided;
  gpu::recurrence::Triangles<gpu::device_scalar_t<T>> t;
  if (op == Op::none) {
    t.part[0] = {strided(m.c), strided(m.b), gpu::recurrence::widened(m.a), m.order(), false, true};
  } else {
    // t_j = A_{j+1}^T t_{j+1} + c_j x_j, y_j = b_j^T t_j: position j of the upward sweep has
    // transition A_{j+1}. For j = n-1 that is one past the end, where a sweep starts and reads none.
    auto a = m.a;
    if constexpr (K::rank == 4) a = a.transposed();
    a = {a.data() + (m.size() > 0 ? a.stride(1) : 0), a.extents(), a.strides()};
    t.part[0] = {strided(m.b.reversed(1)),
                 strided(m.c.reversed(1)),
                 gpu::recurrence::widened(a.reversed(1)),
                 m.order(),
                 true,
                 true};
  }
  t.n = m.size();
  t.conjugate = is_complex_v<T> && op == Op::adjoint;
  return t;
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t apply_workspace_bytes(const SemiseparableView<T, K, space::cuda>& matrix, index_t k) {
  const auto m = semiseparable::checked(matrix, operation);
  return gpu::recurrence::multiply_workspace_bytes<K>(operation, triangles(m, Op::none), k,
                                                      m.batch());
}

template <Scalar T, transition::Uniform K>
void apply(const exec::cuda& e, const SemiseparableView<T, K, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  const auto m = semiseparable::checked(matrix, operation);
  detail::check_operands(operation, m.batch(), m.size(), m.size(), x, y);
  gpu::recurrence::multiply<K, T>(operation, e, triangles(m, op), x, y, m.batch());
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                   \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                            \
      const SemiseparableView<T, transition::K, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                               \
      const exec::cuda&, const SemiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
