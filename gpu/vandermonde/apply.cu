// y := op(A) x for Vandermonde matrices and exponential sums on the device.
#include "structmat/vandermonde/apply.hpp"

#include "core/instantiate.hpp"
#include "vandermonde/in_turns.cuh"
#include "vandermonde/polynomial.cuh"
#include "vandermonde/sums.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "vandermonde::apply";

index_t checked_columns(index_t k) {
  if (k >= 0) return k;
  throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
}

/// Numbers of workspace for a batch entry with k columns.
template <class T>
index_t numbers(const VandermondeView<T, space::cuda>& m, index_t k) {
  return gpu::partial_values(m.rows(), m.cols()) * k;
}
template <class T>
index_t numbers(const LogVandermondeView<T, space::cuda>& m, index_t k) {
  return gpu::partial_sums(m.rows(), m.cols()) * k;
}

template <class V>
index_t workspace_bytes(const V& matrix, index_t k) {
  using D = gpu::device_scalar_t<typename V::value_type>;
  const V m = vandermonde::checked(matrix, operation);
  const index_t each = numbers(m, checked_columns(k));
  return gpu::counted(operation,
                      [&](gpu::Workspace& w) { return gpu::take_for<D>(w, m.batch(), each); });
}

/// run(batch entries, where they begin, partial results); the workspace is needed for one side only.
template <class V, class T, class Run>
void with_workspace(const exec::cuda& e, const V& m, index_t batch, bool partial,
                    const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y,
                    const Run& run) {
  gpu::require_writable(operation, y, "y");
  const index_t each = partial && !y.empty() ? numbers(m, y.extent(2)) : 0;
  if (each > 0) {
    gpu::require_apart(operation, e.workspace, x, "x");
    gpu::require_apart(operation, e.workspace, y, "y");
  }
  gpu::in_turns<gpu::device_scalar_t<T>>(operation, e, m.batch(), batch, each, run);
}

}  // namespace

template <Scalar T>
index_t apply_workspace_bytes(const VandermondeView<T, space::cuda>& m, index_t k) {
  return workspace_bytes(m, k);
}
template <Scalar T>
index_t apply_workspace_bytes(const LogVandermondeView<T, space::cuda>& m, index_t k) {
  return workspace_bytes(m, k);
}

template <Scalar T>
void apply(const exec::cuda& e, const VandermondeView<T, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  using D = gpu::device_scalar_t<T>;
  const auto own = vandermonde::checked(matrix, operation);
  const bool plain = op == Op::none;
  const index_t rows = plain ? own.rows() : own.cols(), cols = plain ? own.cols() : own.rows();
  const index_t batch = detail::check_operands(operation, own.batch(), rows, cols, x, y);
  const int processors = gpu::multiprocessors(operation);
  const auto m = vandermonde::checked(matrix, operation, batch);
  with_workspace(e, own, batch, plain, x, y, [&](index_t first, index_t count, D* partial) {
    const auto at = [&](const auto& v) { return gpu::strided(v.slice(0, first, first + count)); };
    const auto nodes = at(m.x);
    const auto input = at(x.broadcast(0, batch));
    if (plain) {
      const gpu::Polynomials<D> problem{nodes,    input,    at(y), count, x.extent(2),
                                        m.rows(), m.cols(), false, false, false};
      gpu::evaluate(operation, processors, gpu::stream_of(e), problem, partial);
    } else {
      const gpu::OverPoles<D, D> problem{
          {nodes, m.cols(), m.rows(), gpu::Terms::powers, op == Op::adjoint},
          input,
          at(y),
          count,
          x.extent(2),
          1};
      gpu::sum_over_poles(operation, processors, gpu::stream_of(e), problem);
    }
  });
}

template <Scalar T>
void apply(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  using D = gpu::device_scalar_t<T>;
  const auto own = vandermonde::checked(matrix, operation);
  const bool plain = op == Op::none;
  const index_t rows = plain ? own.rows() : own.cols(), cols = plain ? own.cols() : own.rows();
  const index_t batch = detail::check_operands(operation, own.batch(), rows, cols, x, y);
  const int processors = gpu::multiprocessors(operation);
  const auto m = vandermonde::checked(matrix, operation, batch);
  with_workspace(e, own, batch, !plain, x, y, [&](index_t first, index_t count, D* partial) {
    const auto at = [&](const auto& v) { return gpu::strided(v.slice(0, first, first + count)); };
    const gpu::Sequences<D> z{at(m.a), m.rows(), m.cols(), gpu::Terms::exponentials,
                              op == Op::adjoint};
    const auto input = at(x.broadcast(0, batch));
    if (plain) {
      const gpu::OverPoles<D, D> problem{z, input, at(y), count, x.extent(2), 1};
      gpu::sum_over_poles(operation, processors, gpu::stream_of(e), problem);
    } else {
      const gpu::OverLags<D, D> problem{z, input, at(y), count, x.extent(2), 1, false, false};
      gpu::sum_over_lags(operation, processors, gpu::stream_of(e), problem, partial);
    }
  });
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                      \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const V<T, space::cuda>&, index_t); \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const V<T, space::cuda>&, Op,       \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                 \
  STRUCTMAT_INSTANTIATE_VIEW(VandermondeView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(LogVandermondeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
