// Reverse mode for scalar and diagonal transitions: a scalar is a diagonal with stride 0 between states.
//
// Long sequences are bound by memory: transitions and `in` are read four times (the summaries of both
// directions, and twice in phase 3, where the second time may be served by a cache), `out` twice, and
// cotangents are read and written once.
#include "core/instantiate.hpp"
#include "recurrence/diagonal_vjp_kernel.cuh"
#include "recurrence/lanes_vjp_kernel.cuh"
#include "recurrence/summaries.cuh"

namespace structmat::gpu::recurrence {
namespace {

template <class T>
LanesReverse<T> take_reverse(Workspace& w, const Reverse<T>& r) {
  LanesReverse<T> problem;
  problem.forward = take_summaries(w, r.forward, r.batch());
  problem.adjoint = take_summaries(w, r.adjoint, r.batch());
  problem.bar = r.bar;
  return problem;
}

}  // namespace

template <class K, class T>
index_t apply_vjp_workspace_bytes(const char* operation, const Reverse<T>& r) {
  return counted(operation, [&](Workspace& w) { return take_reverse(w, r); });
}

template <class K, class T>
void apply_vjp(const char* operation, const exec::cuda& e, const Reverse<T>& r) {
  const int processors = multiprocessors(operation);
  const cudaStream_t stream = stream_of(e);
  const LanesReverse<T> problem =
      cut(operation, e.workspace, [&](Workspace& w) { return take_reverse(w, r); });
  enqueue_diagonal_vjp(operation, r, processors, stream);
  if (r.forward.states() == 0) return;
  summarise(operation, problem.forward, processors, stream);
  summarise(operation, problem.adjoint, processors, stream);
  with_lanes(r.forward, [&](auto layout) {
    using Summary = decltype(layout);
    using L = Layout<Summary::States, Summary::Columns, Summary::SummaryRows, lane_vjp_rows<T>>;
    const Grid grid{persistent_blocks(problem.work(), lanes_threads / L::group, processors),
                    lanes_threads, static_cast<std::size_t>(lanes_vjp_shared_bytes<L>(problem))};
    if (r.bar.shared_transition) {
      launch(operation, pull_back_lanes<true, L, T>, grid, stream, problem);
    } else {
      launch(operation, pull_back_lanes<false, L, T>, grid, stream, problem);
    }
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                \
  template index_t apply_vjp_workspace_bytes<transition::Diagonal>(             \
      const char*, const Reverse<device_scalar_t<T>>&);                         \
  template void apply_vjp<transition::Diagonal>(const char*, const exec::cuda&, \
                                                const Reverse<device_scalar_t<T>>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
