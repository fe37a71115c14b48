// The product for dense transitions. Computed in double whatever T is: tensor cores multiply in double
// as fast as the other units in float.
//
// Long sequences are bound by memory: transitions, `in` and x are read twice.
#include "core/instantiate.hpp"
#include "recurrence/apply_steps.cuh"
#include "recurrence/dense_kernel.cuh"
#include "recurrence/dense_steps.cuh"
#include "recurrence/summaries.cuh"

namespace structmat::gpu::recurrence {
namespace {

template <class T, int R>
void enqueue(const char* operation, const exec::cuda& e, const Triangles<T>& m, index_t own) {
  const int processors = multiprocessors(operation);
  const cudaStream_t stream = stream_of(e);
  in_turns(
      operation, e, m, own,
      [&](Workspace& w, index_t batch) { return take_dense_summaries<T, R>(w, m, batch); },
      [&](const Triangles<T>& some, DenseProblem<T, R> problem) {
        problem.m = some;
        summarise(operation, problem, processors, stream);
        launch(operation, apply_dense<T, R>,
               persistent_blocks(some.batch * problem.chunks.count() * problem.column_tiles(),
                                 dense_warps, processors),
               dense_threads, stream, problem);
      });
}

}  // namespace

template <class K, class T>
index_t apply_workspace_bytes(const char* operation, const Triangles<T>& m, index_t batch) {
  const index_t order = std::max(m.part[0].states, m.part[1].states);
  return counted(operation, [&](Workspace& w) {
    if (order <= 8) {
      take_dense_summaries<T, 1>(w, m, batch);
    } else if (order <= 16) {
      take_dense_summaries<T, 2>(w, m, batch);
    } else {
      take_step_summaries<T>(w, DenseSteps<T>{m}, m.n, batch);
    }
  });
}

template <class K, class T>
void apply(const char* operation, const exec::cuda& e, const Triangles<T>& m, index_t own) {
  const index_t order = std::max(m.part[0].states, m.part[1].states);
  if (order <= 8) return enqueue<T, 1>(operation, e, m, own);
  if (order <= 16) return enqueue<T, 2>(operation, e, m, own);
  apply_in_steps<T>(operation, e, DenseSteps<T>{m}, m.n, own,
                    [](const Triangles<T>& some) { return DenseSteps<T>{some}; });
}

#define STRUCTMAT_INSTANTIATE(T)                                         \
  template index_t apply_workspace_bytes<transition::Dense>(             \
      const char*, const Triangles<device_scalar_t<T>>&, index_t);       \
  template void apply<transition::Dense>(const char*, const exec::cuda&, \
                                         const Triangles<device_scalar_t<T>>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
