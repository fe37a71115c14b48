// With t the vectors between the halves and t_bar their cotangents, every cotangent is a product of many
// small matrices.
#include "butterfly/monarch_stages.cuh"
#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"
#include "core/workspace.cuh"
#include "structmat/butterfly/apply_vjp.hpp"

namespace structmat {
namespace {

constexpr char operation[] = "monarch::apply_vjp";

template <class T>
struct Buffers {
  T *t, *t_bar;
};

template <class T>
auto layout(index_t batch, index_t rows, index_t k) {
  return [=](gpu::Workspace& workspace) {
    T* const t = workspace.take<T>(batch * rows * k);
    return Buffers<T>{t, workspace.take<T>(batch * rows * k)};
  };
}

/// blocks_bar += a b^T block by block, summed over the batch where all share one bar.
template <class T, class D>
void add_outer(const View<T, 4, space::cuda>& bar, index_t batch, index_t columns,
               const gpu::Factor<const D>& a, const gpu::Factor<const D>& b, int processors,
               cudaStream_t stream) {
  if (!bar.data()) return;
  gpu::ProductShape shape{bar.extent(2), bar.extent(3), columns, batch, bar.extent(1)};
  shape.add = true;
  shape.sum_outer = bar.stride(0) == 0;
  gpu::multiply<D>(operation, shape, a, b.transposed(), monarch::blocks(bar), processors, stream);
}

}  // namespace

template <Scalar T>
index_t apply_vjp_workspace_bytes(const MonarchView<T, space::cuda>& matrix, index_t k,
                                  index_t batch) {
  const auto m = monarch::checked(matrix, operation, batch);
  return gpu::counted(operation, layout<T>(m.batch(), m.w1.extent(1) * m.w1.extent(2), k));
}

template <Scalar T>
void apply_vjp(const exec::cuda& e, const MonarchView<T, space::cuda>& matrix, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const MonarchCotangent<T, space::cuda>& matrix_bar, View<T, 3, space::cuda> x_bar) {
  using D = gpu::device_scalar_t<T>;
  const auto given = monarch::checked(matrix, operation);
  const bool forward = op == Op::none, adjoint = op == Op::adjoint;
  const index_t out = forward ? given.rows() : given.cols();
  const index_t in = forward ? given.cols() : given.rows();
  const index_t batch =
      detail::check_vjp_operands(operation, given.batch(), out, in, x, y_bar, x_bar);
  const auto m = monarch::checked(matrix, operation, batch);
  const auto extents = [](const auto& w) {
    return std::array<index_t, 3>{w.extent(1), w.extent(2), w.extent(3)};
  };
  const auto w1_bar =
      detail::checked_cotangent(operation, "w1", matrix_bar.w1, batch, extents(m.w1));
  const auto w2_bar =
      detail::checked_cotangent(operation, "w2", matrix_bar.w2, batch, extents(m.w2));
  const index_t k = m.w1.extent(1), q = m.w1.extent(2), p = m.w1.extent(3);
  const index_t l = m.w2.extent(1), s = m.w2.extent(2), r = m.w2.extent(3), columns = x.extent(2);
  const auto buffers = gpu::cut(operation, e.workspace, layout<D>(batch, k * q, columns));
  const int processors = gpu::multiprocessors(operation);

  const cudaStream_t stream = gpu::stream_of(e);
  const auto w1 = monarch::blocks(m.w1), w2 = monarch::blocks(m.w2);
  const auto vectors = gpu::factor(x), out_bar = gpu::factor(y_bar);
  const auto t = monarch::between(buffers.t, k * q, columns);
  const auto t_bar = monarch::between(buffers.t_bar, k * q, columns);
  const auto t_read = monarch::read(t), t_bar_read = monarch::read(t_bar);
  const auto multiply = [&](gpu::ProductShape shape, const auto& a, const auto& b, const auto& c) {
    gpu::multiply<D>(operation, shape, a, b, c, processors, stream);
  };
  // What x_bar collects: over the batch where it is one for all.
  const auto to_x = [&](gpu::ProductShape shape) {
    shape.add = true;
    shape.sum_outer = x_bar.stride(0) == 0;
    return shape;
  };
  using monarch::interleaved;
  using monarch::neighbouring;
  if (forward) {  // t = W1 x, y = W2 t
    multiply({q, columns, p, batch, k}, w1, neighbouring(vectors, p), neighbouring(t, q));
    multiply({r, columns, s, batch, l}, w2.conjugate().transposed(), interleaved(out_bar, l),
             interleaved(t_bar, l));
    add_outer(w1_bar, batch, columns, neighbouring(t_bar_read, q),
              neighbouring(vectors, p).conjugate(), processors, stream);
    add_outer(w2_bar, batch, columns, interleaved(out_bar, l), interleaved(t_read, l).conjugate(),
              processors, stream);
    if (x_bar.data()) {
      multiply(to_x({p, columns, q, batch, k}), w1.conjugate().transposed(),
               neighbouring(t_bar_read, q), neighbouring(gpu::target(x_bar), p));
    }
    return;
  }
  // t = W2^T x, y = W1^T t; W conjugated for the adjoint.
  multiply({r, columns, s, batch, l}, w2.conjugate(adjoint).transposed(), interleaved(vectors, l),
           interleaved(t, l));
  multiply({q, columns, p, batch, k}, w1.conjugate(!adjoint), neighbouring(out_bar, p),
           neighbouring(t_bar, q));
  add_outer(w1_bar, batch, columns, neighbouring(t_read, q).conjugate(!adjoint),
            neighbouring(out_bar, p).conjugate(adjoint), processors, stream);
  add_outer(w2_bar, batch, columns, interleaved(vectors, l).conjugate(!adjoint),
            interleaved(t_bar_read, l).conjugate(adjoint), processors, stream);
  if (x_bar.data()) {
    multiply(to_x({s, columns, r, batch, l}), w2.conjugate(!adjoint), interleaved(t_bar_read, l),
             interleaved(gpu::target(x_bar), l));
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const MonarchView<T, space::cuda>&, \
                                                              index_t, index_t);                  \
  template STRUCTMAT_EXPORT void apply_vjp(                                                       \
      const exec::cuda&, const MonarchView<T, space::cuda>&, Op, View<const T, 3, space::cuda>,   \
      View<const T, 3, space::cuda>, const MonarchCotangent<T, space::cuda>&,                     \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
