// y := L R^T x in two products: w := R^T x, a long sum in pieces, then y := L w.
#include "structmat/lowrank/apply.hpp"

#include "core/instantiate.hpp"
#include "core/workspace.cuh"
#include "dense/product.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "lowrank::apply";

template <class T>
struct Buffers {
  T *w, *partial;
};

template <class T>
auto layout(index_t batch, index_t order, index_t n, index_t k) {
  return [=](gpu::Workspace& workspace) {
    T* const w = workspace.take<T>(batch * order * k);
    const index_t pieces = gpu::pieces_of(n);
    return Buffers<T>{w, workspace.take<T>(pieces > 1 ? batch * pieces * order * k : 0)};
  };
}

}  // namespace

template <Scalar T>
index_t apply_workspace_bytes(const LowRankView<T, space::cuda>& matrix, index_t k, index_t batch) {
  const auto m = lowrank::checked(matrix, operation, batch);
  using D = gpu::device_scalar_t<T>;
  return gpu::counted(operation, layout<D>(m.batch(), m.order(), max(m.rows(), m.cols()), k));
}

template <Scalar T>
void apply(const exec::cuda& e, const LowRankView<T, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  using D = gpu::device_scalar_t<T>;
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t own = lowrank::checked(given, operation).batch();
  const index_t batch = detail::check_operands(operation, own, given.rows(), given.cols(), x, y);
  const auto m = lowrank::checked(given, operation, batch);
  gpu::require_writable(operation, y, "y");
  const index_t r = m.order(), k = x.extent(2);
  const auto buffers =
      gpu::cut(operation, e.workspace, layout<D>(batch, r, max(m.rows(), m.cols()), k));
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y, "y");
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;

  const bool conjugated = op == Op::adjoint;
  const auto u = gpu::factor(m.u).conjugate(conjugated), v = gpu::factor(m.v).conjugate(conjugated);
  const cudaStream_t stream = gpu::stream_of(e);
  gpu::multiply_long<D>(operation, batch, r, k, m.cols(), v.transposed(), gpu::factor(x),
                        buffers.partial, buffers.w, processors, stream);
  gpu::multiply<D>(operation, {m.rows(), k, r, batch}, u, {buffers.w, r * k, 0, k, 1},
                   gpu::target(y), processors, stream);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const LowRankView<T, space::cuda>&,     \
                                                          index_t, index_t);                      \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const LowRankView<T, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
