// Real sums of exponentials on the device, and their reverse mode.
#include "structmat/vandermonde/exponential_sum.hpp"

#include "vandermonde/cotangents.cuh"
#include "vandermonde/in_turns.cuh"
#include "vandermonde/sums.cuh"
#include "vandermonde/vjp_operands.hpp"

namespace structmat {
namespace {

using gpu::device_scalar_t;

constexpr char vjp_operation[] = "vandermonde::real_exponential_sum_vjp";

template <class D>
struct Buffers {
  D *sums, *partial;
};

template <class T, class D = device_scalar_t<T>>
Buffers<D> take(gpu::Workspace& w, const LogVandermondeView<T, space::cuda>& m, index_t columns) {
  return {gpu::take_for<D>(w, columns, m.cols()),
          gpu::take_for<D>(w, columns, gpu::partial_sums(m.rows(), m.cols()))};
}

}  // namespace

template <ComplexScalar T>
void real_exponential_sum(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& matrix,
                          View<const T, 3, space::cuda> c, View<real_t<T>, 3, space::cuda> y) {
  constexpr auto operation = "vandermonde::real_exponential_sum";
  using R = real_t<T>;
  const auto own = vandermonde::checked(matrix, operation);
  // The check compares operands of one type; overlaps do not depend on it.
  const View<T, 3, space::cuda> shape(nullptr, y.extents());
  const index_t batch =
      detail::check_operands(operation, own.batch(), own.rows(), own.cols(), c, shape);
  if (overlaps(c, y)) throw DomainError(std::string(operation) + ": c and y overlap in memory");
  gpu::require_writable(operation, y, "y");
  const auto m = vandermonde::checked(matrix, operation, batch);
  const gpu::OverPoles<gpu::Complex<R>, R> problem{
      {gpu::strided(m.a), m.rows(), m.cols(), gpu::Terms::exponentials, false},
      gpu::strided(c.broadcast(0, batch)),
      gpu::strided(y),
      batch,
      y.extent(2),
      2};
  gpu::sum_over_poles(operation, gpu::multiprocessors(operation), gpu::stream_of(e), problem);
}

template <ComplexScalar T>
index_t real_exponential_sum_vjp_workspace_bytes(const LogVandermondeView<T, space::cuda>& matrix,
                                                 index_t batch, index_t k) {
  const auto m = vandermonde::checked(matrix, vjp_operation, batch);
  if (k < 0) throw ShapeError(std::string(vjp_operation) + ": " + std::to_string(k) + " columns");
  return gpu::counted(vjp_operation, [&](gpu::Workspace& w) { return take(w, m, m.batch() * k); });
}

template <ComplexScalar T>
void real_exponential_sum_vjp(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& matrix,
                              View<const T, 3, space::cuda> c,
                              View<const real_t<T>, 3, space::cuda> y_bar,
                              View<T, 2, space::cuda> a_bar, View<T, 3, space::cuda> c_bar) {
  using R = real_t<T>;
  using D = device_scalar_t<T>;
  constexpr auto operation = vjp_operation;
  const vandermonde::VjpOperands<LogVandermondeView<T, space::cuda>, T, R, space::cuda> o(
      operation, matrix, Op::none, c, y_bar, a_bar, c_bar);
  const index_t k = c.extent(2);
  const auto require_bar = [&](const auto& bar, const char* name) {
    if (bar.data() == nullptr) return;
    gpu::require_writable(operation, bar, name);
    gpu::require_apart(operation, e.workspace, bar, name);
  };
  require_bar(a_bar, "a_bar");
  require_bar(c_bar, "c_bar");
  gpu::require_apart(operation, e.workspace, c, "c");
  gpu::require_apart(operation, e.workspace, y_bar, "y_bar");
  const Buffers<D> w = gpu::cut(operation, e.workspace, [&](gpu::Workspace& workspace) {
    return take(workspace, o.m, o.batch * k);
  });
  const int processors = gpu::multiprocessors(operation);
  const cudaStream_t stream = gpu::stream_of(e);
  gpu::OverLags<D, R> problem{
      {gpu::strided(o.m.a), o.m.rows(), o.m.cols(), gpu::Terms::exponentials, true},
      gpu::strided(o.y_bar),
      {w.sums, {o.m.cols() * k, k, 1}},
      o.batch,
      k,
      2,
      false,
      false};
  if (c_bar.data() != nullptr && !c_bar.empty()) {
    gpu::sum_over_lags(operation, processors, stream, problem, w.partial);
    const gpu::OperandCotangent<D> cotangent{
        gpu::strided(c_bar), c_bar.extent(0), w.sums, o.batch, c.extent(1), k};
    gpu::add_cotangent(operation, processors, stream, cotangent);
  }
  if (a_bar.data() != nullptr && !a_bar.empty() && k > 0) {
    problem.weighted = true;
    gpu::sum_over_lags(operation, processors, stream, problem, w.partial);
    const gpu::NodeCotangent<D> cotangent{gpu::strided(a_bar),
                                          a_bar.extent(0),
                                          gpu::strided(o.x),
                                          w.sums,
                                          o.batch,
                                          o.nodes,
                                          k,
                                          true,
                                          false};
    gpu::add_cotangent(operation, processors, stream, cotangent);
  }
}

#define STRUCTMAT_INSTANTIATE(R)                                                  \
  template STRUCTMAT_EXPORT void real_exponential_sum(                            \
      const exec::cuda&, const LogVandermondeView<std::complex<R>, space::cuda>&, \
      View<const std::complex<R>, 3, space::cuda>, View<R, 3, space::cuda>);      \
  template STRUCTMAT_EXPORT index_t real_exponential_sum_vjp_workspace_bytes(     \
      const LogVandermondeView<std::complex<R>, space::cuda>&, index_t, index_t); \
  template STRUCTMAT_EXPORT void real_exponential_sum_vjp(                        \
      const exec::cuda&, const LogVandermondeView<std::complex<R>, space::cuda>&, \
      View<const std::complex<R>, 3, space::cuda>, View<const R, 3, space::cuda>, \
      View<std::complex<R>, 2, space::cuda>, View<std::complex<R>, 3, space::cuda>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat
