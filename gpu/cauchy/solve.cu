// C x = b for many small Cauchy and Cauchy-like matrices on the device: elimination and substitution, with the
// factors in the workspace.
#include "structmat/cauchy/solve.hpp"

#include "cauchy/elimination_operands.cuh"
#include "core/instantiate.hpp"

namespace structmat {
namespace {

using namespace cauchy::device;

constexpr char operation[] = "cauchy::solve";

template <class D>
struct Buffers {
  Factors<D> factors;
  std::byte* generators;
  D* substitution;
};

/// For `systems` solutions with the matrices of `input`, a chunk of them at a time.
template <class D>
auto layout(const EliminationInput<D>& input, index_t systems, index_t k) {
  return [=](gpu::Workspace& w) {
    const index_t chunk = chunk_of<D>(input.batch, input.n);
    Buffers<D> buffers;
    buffers.factors = factors_layout<D>(chunk, input.n)(w);
    buffers.generators = w.take<std::byte>(elimination_bytes(input.from(0, chunk)));
    const index_t at_once = input.batch == 1 ? systems : chunk;
    buffers.substitution = w.take<D>(substitution_count(at_once, input.n, k));
    return buffers;
  };
}

template <class V>
index_t workspace_bytes(const V& matrix, index_t k, index_t batch) {
  const V m = cauchy::checked(matrix, operation);
  require_square(operation, m);
  const auto input = elimination_input(m);
  return gpu::counted(operation, layout(input, input.batch == 1 ? batch : input.batch, k));
}

template <class V, class T = typename V::value_type>
void solve_systems(const exec::cuda& e, const V& matrix, Op op,
                   const View<const T, 3, space::cuda>& b, const View<T, 3, space::cuda>& x,
                   const View<PivotStatus, 1, space::cuda>& status) {
  using D = gpu::device_scalar_t<T>;
  const V m = cauchy::checked(matrix, operation);
  require_square(operation, m);
  const index_t batch = check_systems(operation, m.batch(), m.rows(), b, x, false);
  require_status(operation, m.batch(), status);
  const auto input = elimination_input(m);
  const index_t own = input.batch;
  auto buffers = gpu::cut(operation, e.workspace, layout(input, batch, x.extent(2)));
  gpu::require_apart(operation, e.workspace, b, "b");
  gpu::require_apart(operation, e.workspace, x, "x");
  const int processors = gpu::multiprocessors(operation);
  const cudaStream_t stream = gpu::stream_of(e);
  Substitution<D> s;
  s.shared_factors = own == 1;
  s.transposed = op != Op::none;
  s.conjugated = op == Op::adjoint;
  s.columns = x.extent(2);
  s.workspace = buffers.substitution;
  const index_t chunk = chunk_of<D>(own, input.n);
  for (index_t first = 0; first < own; first += chunk) {
    const index_t count = std::min(chunk, own - first);
    buffers.factors.status = status.data() + first;
    eliminate(operation, input.from(first, count), buffers.generators, buffers.factors, first,
              processors, stream);
    s.factors = buffers.factors;
    s.batch = own == 1 ? batch : count;
    s.b = gpu::strided(b);
    s.x = gpu::strided(x);
    s.b.data += first * s.b.stride[0];
    s.x.data += first * s.x.stride[0];
    substitute(operation, s, processors, stream);
  }
}

}  // namespace

template <Scalar T>
index_t solve_workspace_bytes(const CauchyLikeView<T, space::cuda>& m, index_t k, index_t batch) {
  return workspace_bytes(m, k, batch);
}
template <Scalar T>
index_t solve_workspace_bytes(const CauchyView<T, space::cuda>& m, index_t k, index_t batch) {
  return workspace_bytes(m, k, batch);
}
template <Scalar T>
void solve(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
           View<PivotStatus, 1, space::cuda> status) {
  solve_systems(e, m, op, b, x, status);
}
template <Scalar T>
void solve(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
           View<PivotStatus, 1, space::cuda> status) {
  solve_systems(e, m, op, b, x, status);
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                       \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes(const V<T, space::cuda>&, index_t,   \
                                                          index_t);                            \
  template STRUCTMAT_EXPORT void solve(const exec::cuda&, const V<T, space::cuda>&, Op,        \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>, \
                                       View<PivotStatus, 1, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)            \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
