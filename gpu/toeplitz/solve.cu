// T x = b for many small Toeplitz matrices on the device: generators of the images, elimination, and for the
// right-hand sides a transform, substitution and a transform back.
#include "structmat/toeplitz/solve.hpp"

#include "cauchy/elimination_operands.cuh"
#include "core/instantiate.hpp"
#include "toeplitz/cauchy_image.cuh"

namespace structmat {
namespace {

using namespace cauchy::device;
using namespace toeplitz::device;

constexpr char operation[] = "toeplitz::solve";

template <class C>
struct Buffers {
  C *g, *h;  // (chunk, n, 2)
  Factors<C> factors;
  std::byte* generators;
  C *image, *substitution;
};

template <class C>
EliminationInput<C> input_of(index_t batch, index_t n, const C* g, const C* h) {
  EliminationInput<C> input;
  input.batch = batch;
  input.n = n;
  input.order = 2;
  input.weights = Weights::circle;
  input.g = {g, {2 * n, 2, 1}};
  input.h = {h, {2 * n, 2, 1}};
  return input;
}

/// `systems` solutions with `own` matrices.
template <class C>
auto layout(index_t own, index_t n, index_t systems, index_t k) {
  return [=](gpu::Workspace& w) {
    const index_t chunk = chunk_of<C>(own, n), at_once = own == 1 ? systems : chunk;
    Buffers<C> buffers;
    buffers.g = w.take<C>(chunk * n * 2);
    buffers.h = w.take<C>(chunk * n * 2);
    buffers.factors = factors_layout<C>(chunk, n)(w);
    buffers.generators =
        w.take<std::byte>(elimination_bytes(input_of<C>(chunk, n, nullptr, nullptr)));
    buffers.image = w.take<C>(at_once * n * k);
    buffers.substitution = w.take<C>(substitution_count(at_once, n, k));
    return buffers;
  };
}

}  // namespace

template <Scalar T>
index_t solve_workspace_bytes(const ToeplitzView<T, space::cuda>& matrix, index_t k,
                              index_t batch) {
  using C = gpu::Complex<real_t<T>>;
  const auto m = toeplitz::checked(matrix, operation);
  require_small_square(operation, m.rows(), m.cols());
  return gpu::counted(operation,
                      layout<C>(m.batch(), m.rows(), m.batch() == 1 ? batch : m.batch(), k));
}

template <Scalar T>
void solve(const exec::cuda& e, const ToeplitzView<T, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
           View<PivotStatus, 1, space::cuda> status) {
  using D = gpu::device_scalar_t<T>;
  using C = gpu::Complex<real_t<T>>;
  const auto m = toeplitz::checked(matrix, operation);
  require_small_square(operation, m.rows(), m.cols());
  const index_t n = m.rows(), own = m.batch(), k = x.extent(2);
  const index_t batch = check_systems(operation, own, n, b, x, false);
  require_status(operation, own, status);
  auto buffers = gpu::cut(operation, e.workspace, layout<C>(own, n, batch, k));
  gpu::require_apart(operation, e.workspace, b, "b");
  gpu::require_apart(operation, e.workspace, x, "x");
  const int processors = gpu::multiprocessors(operation);
  const cudaStream_t stream = gpu::stream_of(e);
  const bool transposed = op != Op::none, conjugated = op == Op::adjoint;
  const gpu::Strided<C, 3> image{buffers.image, {n * k, k, 1}};
  Substitution<C> s;
  s.shared_factors = own == 1;
  s.transposed = transposed;
  s.columns = k;
  s.b = {image.data, {n * k, k, 1}};
  s.x = image;
  s.workspace = buffers.substitution;
  const index_t chunk = chunk_of<C>(own, n);
  for (index_t first = 0; first < own; first += chunk) {
    const index_t count = std::min(chunk, own - first);
    GeneratorProblem<D> generators{count, n, gpu::strided(m.lags), {}, {}, {}, {}};
    generators.lags.data += first * generators.lags.stride[0];
    generators.g = {buffers.g, {2 * n, 2, 1}};
    generators.h = {buffers.h, {2 * n, 2, 1}};
    enqueue_generators(operation, generators, processors, stream);
    buffers.factors.status = status.data() + first;
    eliminate(operation, input_of<C>(count, n, buffers.g, buffers.h), buffers.generators,
              buffers.factors, first, processors, stream);
    s.factors = buffers.factors;
    s.batch = own == 1 ? batch : count;
    TransformProblem<D, C> to{s.batch,         n,    k, to_image(transposed), conjugated, false,
                              gpu::strided(b), image};
    to.x.data += first * to.x.stride[0];
    enqueue_transform(operation, to, processors, stream);
    substitute(operation, s, processors, stream);
    TransformProblem<C, D> from{s.batch, n,          k,   from_image(transposed),
                                false,   conjugated, s.b, gpu::strided(x)};
    from.y.data += first * from.y.stride[0];
    enqueue_transform(operation, from, processors, stream);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes(const ToeplitzView<T, space::cuda>&,     \
                                                          index_t, index_t);                       \
  template STRUCTMAT_EXPORT void solve(const exec::cuda&, const ToeplitzView<T, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>,     \
                                       View<PivotStatus, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
