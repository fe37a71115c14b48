#include "core/instantiate.hpp"
#include "quasiseparable/block_matrix.cuh"
#include "recurrence/to_dense.cuh"
#include "structmat/quasiseparable/entry.hpp"

namespace structmat {
namespace {

using namespace gpu::recurrence;

constexpr char operation[] = "quasiseparable::to_dense";

template <class T, class K>
Triangles<gpu::device_scalar_t<T>> triangles(const QuasiseparableView<T, K, space::cuda>& m) {
  using gpu::strided;
  Triangles<gpu::device_scalar_t<T>> t;
  t.part[0] = {strided(m.p), strided(m.q), widened(m.a), m.order().lower, false, false};
  t.part[1] = {strided(m.g.reversed(1)),
               strided(m.h.reversed(1)),
               widened(m.b.reversed(1)),
               m.order().upper,
               true,
               false};
  t.diagonal = strided(m.d);
  t.n = m.size();
  t.batch = m.batch();
  return t;
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t to_dense_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& matrix) {
  const auto m = quasiseparable::checked(matrix, operation);
  return gpu::recurrence::to_dense_workspace_bytes<kernel_kind<K>>(operation, triangles(m));
}

template <Scalar T, transition::Uniform K>
void to_dense(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  const auto m = quasiseparable::checked(matrix, operation);
  const auto entries = dense_operand<T>(operation, e, dense, m.batch(), m.size());
  if (entries.data == nullptr) return;
  gpu::recurrence::to_dense<kernel_kind<K>>(operation, e, triangles(m), entries);
}

template <Scalar T>
index_t to_dense_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>&) {
  return 0;
}

template <Scalar T>
void to_dense(const exec::cuda& e, const Quasiseparable<T, transition::Block, space::cuda>& m,
              View<T, 3, space::cuda> dense) {
  const auto entries = dense_operand<T>(operation, e, dense, m.batch(), m.size());
  if (entries.data == nullptr) return;
  auto steps = block_steps(gpu::quasiseparable::block_matrix(m), Op::none);
  steps.m.batch = m.batch();
  gpu::recurrence::to_dense(operation, e, steps, entries);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(                      \
      const QuasiseparableView<T, transition::K, space::cuda>&);                   \
  template STRUCTMAT_EXPORT void to_dense(                                         \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

#define STRUCTMAT_INSTANTIATE_BLOCK(T)                                             \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(                      \
      const Quasiseparable<T, transition::Block, space::cuda>&);                   \
  template STRUCTMAT_EXPORT void to_dense(                                         \
      const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_BLOCK)

}  // namespace structmat
