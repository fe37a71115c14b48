// Phases 1 and 2 for scalar and diagonal transitions.
#include <limits>

#include "core/instantiate.hpp"
#include "recurrence/lanes_kernel.cuh"
#include "recurrence/summaries.cuh"
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

}  // namespace

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

template <class T>
void summarise(const char* operation, const Summarised<T>& s, int processors, cudaStream_t stream) {
  if (s.state == nullptr) return;
  if (s.m.columns >= least_wide_columns) {
    constexpr index_t warps = wide_threads / 32;
    launch(operation, summarise_wide<T>, persistent_blocks(wide_summary_work(s), warps, processors),
           wide_threads, stream, s);
  } else {
    with_lanes(s.m, [&](auto layout) {
      using L = decltype(layout);
      launch(operation, summarise_lanes<L, T>,
             persistent_blocks(lanes_summary_work<L>(s), lanes_threads / L::group, processors),
             lanes_threads, stream, s);
    });
  }
  launch(operation, combine_chunks<T>, persistent_blocks(combine_work(s), 1, processors),
         combine_threads, stream, s);
}

#define STRUCTMAT_INSTANTIATE(T)                                  \
  template Summarised<device_scalar_t<T>> take_summaries(         \
      Workspace&, const Triangles<device_scalar_t<T>>&, index_t); \
  template void summarise(const char*, const Summarised<device_scalar_t<T>>&, int, cudaStream_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
