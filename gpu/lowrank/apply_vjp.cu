// For y = L R^T x, with L and R conjugated for the adjoint: w := R^T x and w_bar := L^H y_bar are long
// sums in pieces; the cotangents are products of small depth.
#include "structmat/lowrank/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"
#include "core/workspace.cuh"
#include "dense/product.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "lowrank::apply_vjp";

template <class T>
struct Buffers {
  T *w, *w_bar, *partial;
};

template <class T>
auto layout(index_t batch, index_t order, index_t longest, index_t k) {
  return [=](gpu::Workspace& workspace) {
    T* const w = workspace.take<T>(batch * order * k);
    T* const w_bar = workspace.take<T>(batch * order * k);
    const index_t pieces = gpu::pieces_of(longest);
    return Buffers<T>{w, w_bar, workspace.take<T>(pieces > 1 ? batch * pieces * order * k : 0)};
  };
}

/// C += A B, summed over the batch where C has one matrix for all.
template <class T>
void add_product(const View<T, 3, space::cuda>& c, bool conjugated, index_t batch, index_t depth,
                 const gpu::Factor<const gpu::device_scalar_t<T>>& a,
                 const gpu::Factor<const gpu::device_scalar_t<T>>& b, int processors,
                 cudaStream_t stream) {
  if (!c.data()) return;
  using D = gpu::device_scalar_t<T>;
  gpu::ProductShape shape{c.extent(1), c.extent(2), depth, batch};
  shape.add = true;
  shape.sum_outer = c.stride(0) == 0;
  gpu::multiply<D>(operation, shape, a.conjugate(conjugated), b.conjugate(conjugated),
                   gpu::target(c), processors, stream);
}

}  // namespace

template <Scalar T>
index_t apply_vjp_workspace_bytes(const LowRankView<T, space::cuda>& matrix, index_t k,
                                  index_t batch) {
  const auto m = lowrank::checked(matrix, operation, batch);
  using D = gpu::device_scalar_t<T>;
  return gpu::counted(operation, layout<D>(m.batch(), m.order(), max(m.rows(), m.cols()), k));
}

template <Scalar T>
void apply_vjp(const exec::cuda& e, const LowRankView<T, space::cuda>& matrix, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const LowRankCotangent<T, space::cuda>& matrix_bar, View<T, 3, space::cuda> x_bar) {
  using D = gpu::device_scalar_t<T>;
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t own = lowrank::checked(given, operation).batch();
  const index_t batch =
      detail::check_vjp_operands(operation, own, given.rows(), given.cols(), x, y_bar, x_bar);
  const auto m = lowrank::checked(given, operation, batch);
  auto u_bar = detail::checked_cotangent(operation, "u", matrix_bar.u, batch,
                                         {matrix.rows(), matrix.order()});
  auto v_bar = detail::checked_cotangent(operation, "v", matrix_bar.v, batch,
                                         {matrix.cols(), matrix.order()});
  const index_t r = m.order(), k = x.extent(2);
  const auto buffers =
      gpu::cut(operation, e.workspace, layout<D>(batch, r, max(m.rows(), m.cols()), k));
  const int processors = gpu::multiprocessors(operation);
  if (op != Op::none) std::swap(u_bar, v_bar);

  const cudaStream_t stream = gpu::stream_of(e);
  const bool conjugated = op == Op::adjoint;
  const auto left = gpu::factor(m.u), right = gpu::factor(m.v);
  const auto in = gpu::factor(x), out_bar = gpu::factor(y_bar);
  const gpu::Factor<const D> w{buffers.w, r * k, 0, k, 1}, w_bar{buffers.w_bar, r * k, 0, k, 1};
  if (u_bar.data()) {
    gpu::multiply_long<D>(operation, batch, r, k, m.cols(),
                          right.conjugate(conjugated).transposed(), in, buffers.partial, buffers.w,
                          processors, stream);
    // L_bar += y_bar w^H, or the conjugate of that.
    add_product(u_bar, conjugated, batch, k, out_bar, w.conjugate().transposed(), processors,
                stream);
  }
  if (!v_bar.data() && !x_bar.data()) return;
  gpu::multiply_long<D>(operation, batch, r, k, m.rows(), left.conjugate(!conjugated).transposed(),
                        out_bar, buffers.partial, buffers.w_bar, processors, stream);
  // R_bar += conj(x) w_bar^T, or the conjugate of that.
  add_product(v_bar, conjugated, batch, k, in.conjugate(), w_bar.transposed(), processors, stream);
  add_product(x_bar, false, batch, r, right.conjugate(!conjugated), w_bar, processors, stream);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const LowRankView<T, space::cuda>&, \
                                                              index_t, index_t);                  \
  template STRUCTMAT_EXPORT void apply_vjp(                                                       \
      const exec::cuda&, const LowRankView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,   \
      View<const T, 3, space::cuda>, const LowRankCotangent<T, space::cuda>&,                     \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
