// Two products that keep their states at all block boundaries, then all cotangents at once.
#include "recurrence/apply_vjp_block.cuh"

#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"
#include "recurrence/apply_block.cuh"
#include "recurrence/vjp_block_kernel.cuh"

namespace structmat::gpu::recurrence {
namespace {

template <class T>
struct Buffers {
  StepsProblem<T, BlockSteps<T>> problem;  // of one product, then of the other
  BoundaryStates<T> states[2];
  T* sums;  // of x_bar, for each entry of the batch
};

/// `steps`: of either product, with all operands' sizes.
template <Scalar T>
Buffers<device_scalar_t<T>> take(Workspace& w, const BlockMatrixOnDevice<T>& m,
                                 const BlockSteps<device_scalar_t<T>>& steps) {
  using D = device_scalar_t<T>;
  const index_t batch = steps.m.batch, columns = steps.m.columns;
  Buffers<D> buffers{take_step_summaries<D>(w, steps, steps.blocks, batch), {}, nullptr};
  const auto states_of = [&](const BlockTriangleOnDevice<T>* t) {
    if (t == nullptr) return BoundaryStates<D>{};
    D* const down = w.take<D>(batch * t->total * columns);
    return BoundaryStates<D>{down, w.take<D>(batch * t->total * columns), t->total};
  };
  buffers.states[0] = states_of(&m.lower);
  buffers.states[1] = states_of(m.upper_transposed);
  if (batch > 1) buffers.sums = w.take<D>(batch * steps.m.n * columns);
  return buffers;
}

template <Scalar T>
void require_fit(const char* operation, const BlockMatrixOnDevice<T>& m,
                 const BlockCotangentOnDevice<T>& bar, index_t batch) {
  const index_t own = bar.diagonal->batch();
  const auto fits = [&](const BlockTriangleOnDevice<T>* t, const BlockTriangleOnDevice<T>* t_bar) {
    return t == nullptr || (t->states == t_bar->states && t_bar->batch() == own);
  };
  if (*bar.partition != m.partition || !fits(&m.lower, bar.lower) ||
      !fits(m.upper_transposed, bar.upper_transposed)) {
    throw ShapeError(std::string(operation) +
                     ": the cotangent of M has another partition or other states than M");
  }
  if (own != 1 && own != batch) {
    throw ShapeError(std::string(operation) + ": the cotangent of M has batch " +
                     std::to_string(own) + ", the operation has " + std::to_string(batch));
  }
}

/// Cotangents of M, once the states are known. Of op(M) = M: P is multiplied with w, Q with x.
template <Scalar T>
BlockCotangents<device_scalar_t<T>> cotangents(const BlockCotangentOnDevice<T>& bar,
                                               bool lower_triangular, Op op,
                                               const BoundaryStates<device_scalar_t<T>>* states,
                                               const BlockSteps<device_scalar_t<T>>& forward,
                                               const BlockSteps<device_scalar_t<T>>& adjoint) {
  using D = device_scalar_t<T>;
  const bool plain = op == Op::none;
  // Conjugates of what the products see.
  const Factor<D> x{forward.m.x, is_complex_v<T> && !forward.m.conjugate};
  const Factor<D> w{adjoint.m.x, is_complex_v<T> && !adjoint.m.conjugate};
  auto* const upper = bar.upper_transposed != nullptr ? bar.upper_transposed : bar.lower;
  BlockCotangents<D> c{};
  c.bar[0] = block_side<T>(*bar.lower, false);
  c.bar[1] = block_side<T>(*upper, false);
  c.states[0] = states[0];
  c.states[1] = states[1];
  c.diagonal = blocks_on_diagonal<T>(*bar.diagonal, lower_triangular);
  c.p[0] = c.q[1] = plain ? w : x;
  c.q[0] = c.p[1] = plain ? x : w;
  c.batch = forward.m.batch;
  c.blocks = forward.blocks;
  c.columns = forward.m.columns;
  c.summed = bar.diagonal->batch() == 1;
  return c;
}

}  // namespace

template <Scalar T>
index_t apply_vjp_workspace_bytes(const char* operation, const BlockMatrixOnDevice<T>& m, index_t k,
                                  index_t batch) {
  if (k < 0 || batch < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) +
                     " right-hand sides, batch " + std::to_string(batch));
  }
  auto steps = block_steps(m, Op::none);
  steps.m.columns = k;
  steps.m.batch = m.diagonal.batch() == 1 ? batch : m.diagonal.batch();
  return counted(operation, [&](Workspace& w) { take(w, m, steps); });
}

template <Scalar T>
void apply_vjp(const char* operation, const exec::cuda& e, const BlockMatrixOnDevice<T>& m, Op op,
               const View<const T, 3, space::cuda>& x, const View<const T, 3, space::cuda>& y_bar,
               const BlockCotangentOnDevice<T>& m_bar, View<T, 3, space::cuda> x_bar) {
  using D = device_scalar_t<T>;
  const index_t n = m.partition.rows();
  const index_t batch =
      detail::check_vjp_operands(operation, m.diagonal.batch(), n, n, x, y_bar, x_bar);
  const bool wanted = m_bar.diagonal != nullptr;
  if (wanted) require_fit(operation, m, m_bar, batch);
  if (!x_bar.empty()) require_writable(operation, x_bar.slice(0, 0, 1), "x_bar");
  require_apart(operation, e.workspace, x, "x");
  require_apart(operation, e.workspace, y_bar, "y_bar");
  require_apart(operation, e.workspace, x_bar, "x_bar");
  const int processors = multiprocessors(operation);

  // M^H x = conj(M^T conj(x)): x is conjugated where M should be, and otherwise y_bar.
  auto forward = block_steps(m, op);
  auto adjoint = block_steps(m, op == Op::none ? Op::transpose : Op::none);
  adjoint.m.conjugate = is_complex_v<T> && op != Op::adjoint;
  const bool summed = x_bar.data() && batch > 1 && x_bar.stride(0) == 0;
  for (auto* steps : {&forward, &adjoint}) {
    steps->m.batch = batch;
    steps->m.columns = x.extent(2);
  }
  forward.m.x = strided(x.broadcast(0, batch));
  adjoint.m.x = strided(y_bar);
  const auto buffers =
      cut(operation, e.workspace, [&](Workspace& w) { return take(w, m, forward); });
  if (y_bar.empty()) return;
  adjoint.m.y =
      summed ? Strided<D, 3>{buffers.sums, {n * x.extent(2), x.extent(2), 1}} : strided(x_bar);
  adjoint.accumulate = !summed;

  const cudaStream_t stream = stream_of(e);
  const auto sweep = [&](const BlockSteps<D>& steps, bool product) {
    auto problem = buffers.problem;
    problem.steps = steps;
    StateStore<D> store{};
    if (wanted) {
      // Downward goes the lower triangle, or of the transpose the upper one.
      const auto &down = buffers.states[steps.transposed ? 1 : 0],
                 &up = buffers.states[steps.transposed ? 0 : 1];
      store = {{down.down, up.up}, {down.total, up.total}};
    }
    sweep_blocks(operation, stream, problem, m.diagonal.rows, store, product);
  };
  if (wanted) sweep(forward, false);
  if (wanted || x_bar.data() != nullptr) sweep(adjoint, x_bar.data() != nullptr);
  if (wanted) {
    const auto all = cotangents<T>(m_bar, m.lower_triangular, op, buffers.states, forward, adjoint);
    launch(operation, add_cotangents<D>,
           persistent_blocks((all.summed ? 1 : batch) * 2 * all.blocks, 1, processors),
           steps_threads, stream, all);
  }
  if (summed) {
    launch(operation, add_over_batch<D>,
           persistent_blocks(n * x.extent(2), steps_threads, processors), steps_threads, stream,
           SumOverBatch<D>{buffers.sums, strided(x_bar), batch, n, x.extent(2)});
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template index_t apply_vjp_workspace_bytes(const char*, const BlockMatrixOnDevice<T>&, index_t, \
                                             index_t);                                            \
  template void apply_vjp(const char*, const exec::cuda&, const BlockMatrixOnDevice<T>&, Op,      \
                          const View<const T, 3, space::cuda>&,                                   \
                          const View<const T, 3, space::cuda>&, const BlockCotangentOnDevice<T>&, \
                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
