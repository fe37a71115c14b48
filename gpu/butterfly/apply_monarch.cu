// y := W2 (W1 x), or the transposes in the opposite order: two products of many small matrices.
#include "butterfly/monarch_stages.cuh"
#include "core/instantiate.hpp"
#include "core/workspace.cuh"
#include "structmat/butterfly/apply.hpp"

namespace structmat {
namespace {

constexpr char operation[] = "monarch::apply";

template <class T>
auto layout(index_t batch, index_t rows, index_t k) {
  return [=](gpu::Workspace& workspace) { return workspace.take<T>(batch * rows * k); };
}

}  // namespace

template <Scalar T>
index_t apply_workspace_bytes(const MonarchView<T, space::cuda>& matrix, index_t k, index_t batch) {
  const auto m = monarch::checked(matrix, operation, batch);
  return gpu::counted(operation, layout<T>(m.batch(), m.w1.extent(1) * m.w1.extent(2), k));
}

template <Scalar T>
void apply(const exec::cuda& e, const MonarchView<T, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  using D = gpu::device_scalar_t<T>;
  const auto given = monarch::checked(matrix, operation);
  const bool forward = op == Op::none;
  const index_t out = forward ? given.rows() : given.cols();
  const index_t in = forward ? given.cols() : given.rows();
  const index_t batch = detail::check_operands(operation, given.batch(), out, in, x, y);
  const auto m = monarch::checked(matrix, operation, batch);
  gpu::require_writable(operation, y, "y");
  const index_t k = m.w1.extent(1), q = m.w1.extent(2), p = m.w1.extent(3);
  const index_t l = m.w2.extent(1), s = m.w2.extent(2), r = m.w2.extent(3), columns = x.extent(2);
  D* const memory = gpu::cut(operation, e.workspace, layout<D>(batch, k * q, columns));
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y, "y");
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;

  const cudaStream_t stream = gpu::stream_of(e);
  const auto w1 = monarch::blocks(m.w1).conjugate(op == Op::adjoint);
  const auto w2 = monarch::blocks(m.w2).conjugate(op == Op::adjoint);
  const auto vectors = gpu::factor(x);
  const auto result = gpu::target(y), t = monarch::between(memory, k * q, columns);
  if (forward) {
    gpu::multiply<D>(operation, {q, columns, p, batch, k}, w1, monarch::neighbouring(vectors, p),
                     monarch::neighbouring(t, q), processors, stream);
    gpu::multiply<D>(operation, {s, columns, r, batch, l}, w2,
                     monarch::interleaved(monarch::read(t), l), monarch::interleaved(result, l),
                     processors, stream);
  } else {
    gpu::multiply<D>(operation, {r, columns, s, batch, l}, w2.transposed(),
                     monarch::interleaved(vectors, l), monarch::interleaved(t, l), processors,
                     stream);
    gpu::multiply<D>(operation, {p, columns, q, batch, k}, w1.transposed(),
                     monarch::neighbouring(monarch::read(t), q), monarch::neighbouring(result, p),
                     processors, stream);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const MonarchView<T, space::cuda>&,     \
                                                          index_t, index_t);                      \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const MonarchView<T, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
