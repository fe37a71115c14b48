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

#include <limits>

#include "core/instantiate.hpp"
#include "recurrence/lanes_kernel.cuh"
#include "recurrence/wide_kernel.cuh"

namespace structmat::gpu::recurrence {
namespace {

/// The length depends on n alone, so that the order of all sums does too: short sequences need many
/// chunks to fill the device, long ones have them anyway and save summaries.
Chunks lanes_chunks(index_t n) {
  return {n, n <= 1024               ? 16
             : n <= 8192             ? 32
             : n <= index_t{1} << 20 ? 64
             : n <= index_t{1} << 22 ? 128
                                     : 256};
}

template <class T>
Summarised<T> take_summaries(Workspace& w, const Triangles<T>& m, index_t batch) {
  Summarised<T> s{m, lanes_chunks(m.n), nullptr, nullptr, nullptr};
  if (s.chunks.count() > 1 && m.states() > 0 && m.columns > 0) {
    const index_t products = batch * s.chunks.count() * m.states();
    index_t states = 0;
    if (__builtin_mul_overflow(products, m.columns, &states)) {
      states = std::numeric_limits<index_t>::max();  // which take() refuses
    }
    s.state = w.take<T>(states);
    s.mantissa = w.take<T>(products);
    s.exponent = w.take<int>(products);
  }
  return s;
}

template <class L, class T>
void enqueue_lanes(const char* operation, const Summarised<T>& s, bool summarise, int processors,
                   cudaStream_t stream) {
  constexpr index_t groups = lanes_threads / L::group;
  if (summarise) {
    launch(operation, summarise_lanes<L, T>,
           persistent_blocks(lanes_summary_work<L>(s), groups, processors), lanes_threads, stream,
           s);
    launch(operation, combine_chunks<T>, persistent_blocks(combine_work(s), 1, processors),
           combine_threads, stream, s);
  }
  launch(operation, apply_lanes<L, T>,
         persistent_blocks(lanes_apply_work<L>(s), groups, processors), lanes_threads, stream, s);
}

template <class T>
void enqueue_wide(const char* operation, const Summarised<T>& s, bool summarise, int processors,
                  cudaStream_t stream) {
  constexpr index_t warps = wide_threads / 32;
  if (summarise) {
    launch(operation, summarise_wide<T>, persistent_blocks(wide_summary_work(s), warps, processors),
           wide_threads, stream, s);
    launch(operation, combine_chunks<T>, persistent_blocks(combine_work(s), 1, processors),
           combine_threads, stream, s);
  }
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
  const index_t states = std::max(m.part[0].states, m.part[1].states);
  constexpr int rows = is_complex<T> ? 4 : 8;
  in_turns(
      operation, e, m, own,
      [&](Workspace& w, index_t batch) { return take_summaries(w, m, batch); },
      [&](const Triangles<T>& some, Summarised<T> s) {
        s.m = some;
        const bool summarise = s.state != nullptr;
        // One column: lanes over states, as few as hold them. A few: both. From eight on: lanes over
        // columns, which share each generator and need no exchange.
        if (m.columns >= 8) {
          enqueue_wide(operation, s, summarise, processors, stream);
        } else if (m.columns > 1) {
          enqueue_lanes<Layout<8, 4, 4, rows>>(operation, s, summarise, processors, stream);
        } else if (states <= 4) {
          enqueue_lanes<Layout<4, 1, 4, rows>>(operation, s, summarise, processors, stream);
        } else if (states <= 8) {
          enqueue_lanes<Layout<8, 1, 4, rows>>(operation, s, summarise, processors, stream);
        } else {
          enqueue_lanes<Layout<16, 1, 4, rows>>(operation, s, summarise, processors, stream);
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
