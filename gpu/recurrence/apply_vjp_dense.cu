// Reverse mode for dense transitions. Computed in double whatever T is, up to order 16.
//
// Long sequences are bound by memory: transitions are read four times (the summaries of both directions,
// and phase 3 forward twice; back they are still in a cache), their cotangents read and written once.
#include "core/instantiate.hpp"
#include "recurrence/apply_steps.cuh"
#include "recurrence/dense_vjp_kernel.cuh"
#include "recurrence/diagonal_vjp_kernel.cuh"
#include "recurrence/steps_vjp_kernel.cuh"
#include "recurrence/summaries.cuh"

namespace structmat::gpu::recurrence {
namespace {

template <class T>
index_t order_of(const Reverse<T>& r) {
  return std::max(r.forward.part[0].states, r.forward.part[1].states);
}

template <class T, int R>
DenseReverse<T, R> take_reverse(Workspace& w, const Reverse<T>& r) {
  DenseReverse<T, R> problem;
  problem.forward = take_dense_summaries<T, R>(w, r.forward, r.batch());
  problem.adjoint = take_dense_summaries<T, R>(w, r.adjoint, r.batch());
  problem.bar = r.bar;
  for (int side = 0; side < 2; ++side) {
    const auto& bar = r.bar.part[side].transition;
    problem.paired[side] = problem.forward.paired[side] &&
                           (bar.data == nullptr || is_paired(bar, r.forward.part[side].states));
  }
  problem.kept_columns = static_cast<int>(std::min<index_t>(8, r.forward.columns));
  problem.kept = w.take<double>(r.units() * problem.forward.chunks.count() *
                                problem.kept_batches() * problem.kept_step());
  return problem;
}

template <class T>
StepsReverse<T> take_steps_reverse(Workspace& w, const Reverse<T>& r) {
  StepsReverse<T> problem;
  problem.forward = take_step_summaries<T>(w, DenseSteps<T>{r.forward}, r.forward.n, r.batch());
  problem.adjoint = take_step_summaries<T>(w, DenseSteps<T>{r.adjoint}, r.forward.n, r.batch());
  problem.bar = r.bar;
  problem.between = 1;
  while (problem.between * problem.between < problem.forward.chunks.length) ++problem.between;
  problem.kept =
      w.take<T>(r.units() * problem.forward.chunks.count() * problem.places() * problem.slots());
  return problem;
}

template <class T, int R>
void enqueue(const char* operation, const exec::cuda& e, const Reverse<T>& r, int processors) {
  const cudaStream_t stream = stream_of(e);
  const auto problem =
      cut(operation, e.workspace, [&](Workspace& w) { return take_reverse<T, R>(w, r); });
  enqueue_diagonal_vjp(operation, r, processors, stream);
  if (r.forward.states() == 0) return;
  summarise(operation, problem.forward, processors, stream);
  summarise(operation, problem.adjoint, processors, stream);
  const Grid grid{
      persistent_blocks(r.units() * problem.forward.chunks.count(), dense_vjp_warps, processors),
      dense_vjp_threads};
  if (r.forward.columns <= 4) {
    launch(operation, pull_back_dense<1, T, R>, grid, stream, problem);
  } else {
    launch(operation, pull_back_dense<2, T, R>, grid, stream, problem);
  }
}

template <class T>
void summarise_in_steps(const char* operation, const StepsProblem<T, DenseSteps<T>>& problem,
                        index_t shared_bytes, int processors, cudaStream_t stream) {
  if (problem.product == nullptr) return;
  const Triangles<T>& m = problem.steps.m;
  const auto grid = [&](index_t blocks) {
    return Grid{persistent_blocks(blocks, 1, processors), steps_threads,
                static_cast<std::size_t>(shared_bytes)};
  };
  launch(operation, summarise_steps<T, DenseSteps<T>>,
         grid(m.batch * 2 * problem.chunks.count() *
              (problem.product_tiles() + problem.column_tiles())),
         stream, problem);
  launch(operation, combine_steps<T, DenseSteps<T>>, grid(m.batch * 2 * problem.column_tiles()),
         stream, problem);
}

template <class T>
void enqueue_steps(const char* operation, const exec::cuda& e, const Reverse<T>& r,
                   int processors) {
  const cudaStream_t stream = stream_of(e);
  const StepsReverse<T> problem =
      cut(operation, e.workspace, [&](Workspace& w) { return take_steps_reverse(w, r); });
  const index_t shared_bytes = 2 * problem.slots() * index_t{sizeof(T)};
  require_steps_fit(operation, problem.forward.order, shared_bytes);
  enqueue_diagonal_vjp(operation, r, processors, stream);
  summarise_in_steps(operation, problem.forward, shared_bytes, processors, stream);
  summarise_in_steps(operation, problem.adjoint, shared_bytes, processors, stream);
  launch(operation, pull_back_steps<T>,
         Grid{persistent_blocks(r.units() * problem.forward.chunks.count(), 1, processors),
              steps_threads, static_cast<std::size_t>(shared_bytes)},
         stream, problem);
}

}  // namespace

template <class K, class T>
index_t apply_vjp_workspace_bytes(const char* operation, const Reverse<T>& r) {
  const index_t order = order_of(r);
  return counted(operation, [&](Workspace& w) {
    if (order <= 8) {
      take_reverse<T, 1>(w, r);
    } else if (order <= 16) {
      take_reverse<T, 2>(w, r);
    } else {
      take_steps_reverse(w, r);
    }
  });
}

template <class K, class T>
void apply_vjp(const char* operation, const exec::cuda& e, const Reverse<T>& r) {
  const int processors = multiprocessors(operation);
  const index_t order = order_of(r);
  if (order <= 8) return enqueue<T, 1>(operation, e, r, processors);
  if (order <= 16) return enqueue<T, 2>(operation, e, r, processors);
  enqueue_steps(operation, e, r, processors);
}

#define STRUCTMAT_INSTANTIATE(T)                                             \
  template index_t apply_vjp_workspace_bytes<transition::Dense>(             \
      const char*, const Reverse<device_scalar_t<T>>&);                      \
  template void apply_vjp<transition::Dense>(const char*, const exec::cuda&, \
                                             const Reverse<device_scalar_t<T>>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
