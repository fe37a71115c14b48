// The product for scalar and diagonal transitions: a scalar is a diagonal with stride 0 between states.
//
// NaN and infinity reach only the outputs that depend on them, as in the plain recurrence, with one
// exception: the end state of a chunk is first summed without the state in front of it, so it may
// overflow where the full sum, through cancellation, would not; rows behind that chunk then see the
// infinity. (Products of transitions cannot overflow: see ScaledProduct.)
//
// Long sequences are bound by memory: every number of M is read once, and all but `out` and the
// diagonal once more.
#include "recurrence/apply.cuh"

#include "core/instantiate.hpp"
#include "recurrence/lanes_kernel.cuh"
#include "recurrence/summaries.cuh"
#include "recurrence/wide_kernel.cuh"

namespace structmat::gpu::recurrence {
namespace {

template <class L, class T>
void enqueue_lanes(const char* operation, const Summarised<T>& s, int processors,
                   cudaStream_t stream) {
  constexpr index_t groups = lanes_threads / L::group;
  launch(operation, apply_lanes<L, T>,
         persistent_blocks(lanes_apply_work<L>(s), groups, processors), lanes_threads, stream, s);
}

template <class T>
void enqueue_wide(const char* operation, const Summarised<T>& s, int processors,
                  cudaStream_t stream) {
  constexpr index_t warps = wide_threads / 32;
  launch(operation, apply_wide<T>, persistent_blocks(wide_apply_work(s), warps, processors),
         wide_threads, stream, s);
}

}  // namespace

template <class K, class T>
index_t apply_workspace_bytes(const char* operation, const Triangles<T>& m, index_t batch) {
  return counted(operation, [&](Workspace& w) { return take_summaries(w, m, batch); });
}

template <class K, class T>
void apply(const char* operation, const exec::cuda& e, const Triangles<T>& m, index_t own) {
  const int processors = multiprocessors(operation);
  const cudaStream_t stream = stream_of(e);
  in_turns(
      operation, e, m, own,
      [&](Workspace& w, index_t batch) { return take_summaries(w, m, batch); },
      [&](const Triangles<T>& some, Summarised<T> s) {
        s.m = some;
        summarise(operation, s, processors, stream);
        if (m.columns >= least_wide_columns) {
          enqueue_wide(operation, s, processors, stream);
        } else {
          with_lanes(m, [&](auto layout) {
            enqueue_lanes<decltype(layout)>(operation, s, processors, stream);
          });
        }
      });
}

#define STRUCTMAT_INSTANTIATE(T)                                            \
  template index_t apply_workspace_bytes<transition::Diagonal>(             \
      const char*, const Triangles<device_scalar_t<T>>&, index_t);          \
  template void apply<transition::Diagonal>(const char*, const exec::cuda&, \
                                            const Triangles<device_scalar_t<T>>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
