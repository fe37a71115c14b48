// Cotangents of nodes and operands on the device: two products into the workspace, then ordered sums.
#include "structmat/vandermonde/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "vandermonde/cotangents.cuh"
#include "vandermonde/in_turns.cuh"
#include "vandermonde/polynomial.cuh"
#include "vandermonde/sums.cuh"
#include "vandermonde/vjp_operands.hpp"

namespace structmat {
namespace {

using gpu::device_scalar_t;

constexpr char operation[] = "vandermonde::apply_vjp";

template <class T>
index_t partial_numbers(const VandermondeView<T, space::cuda>& m) {
  return gpu::partial_values(m.rows(), m.cols());
}
template <class T>
index_t partial_numbers(const LogVandermondeView<T, space::cuda>& m) {
  return gpu::partial_sums(m.rows(), m.cols());
}

template <class D>
struct Buffers {
  D *product, *slopes, *partial;
};

/// Sized for either side of the matrix: the query knows no Op.
template <class V, class D = device_scalar_t<typename V::value_type>>
Buffers<D> take(gpu::Workspace& w, const V& m, index_t batch, index_t k) {
  const index_t columns = batch * k;
  return {gpu::take_for<D>(w, columns, std::max(m.rows(), m.cols())),
          gpu::take_for<D>(w, columns, vandermonde::nodes_of(m).extent(1)),
          gpu::take_for<D>(w, columns, partial_numbers(m))};
}

template <class V>
index_t workspace_bytes(const V& matrix, index_t batch, index_t k) {
  const V m = vandermonde::checked(matrix, operation, batch);
  if (k < 0) throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " columns");
  return gpu::counted(operation, [&](gpu::Workspace& w) { return take<V>(w, m, m.batch(), k); });
}

/// Contiguous (rows, columns) for each batch entry.
template <class D>
gpu::Strided<D, 3> contiguous(D* data, index_t rows, index_t columns) {
  return {data, {rows * columns, columns, 1}};
}

/// result := op(V)^H y_bar.
template <class T, class D = device_scalar_t<T>>
void adjoint_product(int processors, cudaStream_t stream, const VandermondeView<T, space::cuda>& m,
                     Op op, gpu::Strided<const D, 3> y_bar, index_t k, const Buffers<D>& w) {
  const auto nodes = gpu::strided(m.x);
  if (op == Op::none) {
    const gpu::OverPoles<D, D> problem{{nodes, m.cols(), m.rows(), gpu::Terms::powers, true},
                                       y_bar,
                                       contiguous(w.product, m.cols(), k),
                                       m.batch(),
                                       k,
                                       1};
    gpu::sum_over_poles(operation, processors, stream, problem);
  } else {
    const gpu::Polynomials<D> problem{nodes,
                                      y_bar,
                                      contiguous(w.product, m.rows(), k),
                                      m.batch(),
                                      k,
                                      m.rows(),
                                      m.cols(),
                                      op == Op::transpose,
                                      false,
                                      false};
    gpu::evaluate(operation, processors, stream, problem, w.partial);
  }
}
template <class T, class D = device_scalar_t<T>>
void adjoint_product(int processors, cudaStream_t stream,
                     const LogVandermondeView<T, space::cuda>& m, Op op,
                     gpu::Strided<const D, 3> y_bar, index_t k, const Buffers<D>& w) {
  const gpu::Sequences<D> z{gpu::strided(m.a), m.rows(), m.cols(), gpu::Terms::exponentials,
                            op != Op::adjoint};
  if (op == Op::none) {
    const gpu::OverLags<D, D> problem{
        z, y_bar, contiguous(w.product, m.cols(), k), m.batch(), k, 1, false, false};
    gpu::sum_over_lags(operation, processors, stream, problem, w.partial);
  } else {
    const gpu::OverPoles<D, D> problem{z,         y_bar, contiguous(w.product, m.rows(), k),
                                       m.batch(), k,     1};
    gpu::sum_over_poles(operation, processors, stream, problem);
  }
}

/// slopes := what a change of each node is multiplied by, for the operand on the other side.
template <class T, class D = device_scalar_t<T>>
void slopes(int processors, cudaStream_t stream, const VandermondeView<T, space::cuda>& m, Op op,
            gpu::Strided<const D, 3> coefficients, index_t k, const Buffers<D>& w) {
  const gpu::Polynomials<D> problem{gpu::strided(m.x),
                                    coefficients,
                                    contiguous(w.slopes, m.rows(), k),
                                    m.batch(),
                                    k,
                                    m.rows(),
                                    std::max<index_t>(m.cols() - 1, 0),
                                    false,
                                    op == Op::transpose,
                                    true};
  gpu::evaluate(operation, processors, stream, problem, w.partial);
}
template <class T, class D = device_scalar_t<T>>
void slopes(int processors, cudaStream_t stream, const LogVandermondeView<T, space::cuda>& m, Op op,
            gpu::Strided<const D, 3> values, index_t k, const Buffers<D>& w) {
  const gpu::OverLags<D, D> problem{
      {gpu::strided(m.a), m.rows(), m.cols(), gpu::Terms::exponentials, true},
      values,
      contiguous(w.slopes, m.cols(), k),
      m.batch(),
      k,
      1,
      true,
      op == Op::transpose};
  gpu::sum_over_lags(operation, processors, stream, problem, w.partial);
}

template <class V, class T>
void run(const exec::cuda& e, const V& matrix, Op op, const View<const T, 3, space::cuda>& x,
         const View<const T, 3, space::cuda>& y_bar, const View<T, 2, space::cuda>& node_bar,
         const View<T, 3, space::cuda>& x_bar) {
  using D = device_scalar_t<T>;
  constexpr bool by_logarithms = std::same_as<V, LogVandermondeView<T, space::cuda>>;
  const vandermonde::VjpOperands<V, T, T, space::cuda> o(operation, matrix, op, x, y_bar, node_bar,
                                                         x_bar);
  const index_t k = x.extent(2);
  const auto require_bar = [&](const auto& bar, const char* name) {
    if (bar.data() == nullptr) return;
    gpu::require_writable(operation, bar, name);
    gpu::require_apart(operation, e.workspace, bar, name);
  };
  require_bar(node_bar, "node_bar");
  require_bar(x_bar, "x_bar");
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y_bar, "y_bar");
  const Buffers<D> w = gpu::cut(operation, e.workspace, [&](gpu::Workspace& workspace) {
    return take<V>(workspace, o.m, o.batch, k);
  });
  const int processors = gpu::multiprocessors(operation);
  const cudaStream_t stream = gpu::stream_of(e);
  const auto in = gpu::strided(o.x), bar = gpu::strided(o.y_bar);
  if (x_bar.data() != nullptr && !x_bar.empty()) {
    adjoint_product(processors, stream, o.m, op, bar, k, w);
    const gpu::OperandCotangent<D> cotangent{
        gpu::strided(x_bar), x_bar.extent(0), w.product, o.batch, x.extent(1), k};
    gpu::add_cotangent(operation, processors, stream, cotangent);
  }
  if (node_bar.data() != nullptr && !node_bar.empty() && k > 0) {
    // Nodes belong to the rows of V and to the columns of E.
    const bool nodes_in_y = (op == Op::none) != by_logarithms;
    slopes(processors, stream, o.m, op, nodes_in_y ? in : bar, k, w);
    const bool transposed = op == Op::transpose;
    const gpu::NodeCotangent<D> cotangent{gpu::strided(node_bar),
                                          node_bar.extent(0),
                                          nodes_in_y ? bar : in,
                                          w.slopes,
                                          o.batch,
                                          o.nodes,
                                          k,
                                          by_logarithms != transposed,
                                          !by_logarithms};
    gpu::add_cotangent(operation, processors, stream, cotangent);
  }
}

}  // namespace

template <Scalar T>
index_t apply_vjp_workspace_bytes(const VandermondeView<T, space::cuda>& m, index_t batch,
                                  index_t k) {
  return workspace_bytes(m, batch, k);
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const LogVandermondeView<T, space::cuda>& m, index_t batch,
                                  index_t k) {
  return workspace_bytes(m, batch, k);
}

template <Scalar T>
void apply_vjp(const exec::cuda& e, const VandermondeView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> node_bar, View<T, 3, space::cuda> x_bar) {
  run(e, m, op, x, y_bar, node_bar, x_bar);
}
template <Scalar T>
void apply_vjp(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> a_bar, View<T, 3, space::cuda> x_bar) {
  run(e, m, op, x, y_bar, a_bar, x_bar);
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                         \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const V<T, space::cuda>&, index_t, \
                                                              index_t);                          \
  template STRUCTMAT_EXPORT void apply_vjp(                                                      \
      const exec::cuda&, const V<T, space::cuda>&, Op, View<const T, 3, space::cuda>,            \
      View<const T, 3, space::cuda>, View<T, 2, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                 \
  STRUCTMAT_INSTANTIATE_VIEW(VandermondeView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(LogVandermondeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
