#include "nn/selective_scan_forward.cuh"
#include "nn/selective_scan_host.cuh"

namespace structmat::nn {

using Cuda = space::cuda;

template <Storage T, class S>
index_t apply_workspace_bytes(const SelectiveScanView<T, S, Cuda>& m,
                              const SelectiveScanInput<T, S, Cuda>& in) {
  constexpr auto operation = "nn::selective_scan::apply_workspace_bytes";
  const gpu::nn::ScanCall<T, S> call(operation, m, in);
  return gpu::counted(operation, [&](gpu::Workspace& w) { return call.take_table(w); });
}

template <Storage T, class S>
void apply(const exec::cuda& e, const SelectiveScanView<T, S, Cuda>& m,
           const SelectiveScanInput<T, S, Cuda>& in, const SelectiveScanOutput<T, S, Cuda>& out) {
  constexpr auto operation = "nn::selective_scan::apply";
  using D = gpu::device_scalar_t<S>;
  const gpu::nn::ScanCall<T, S> call(operation, m, in);
  const ScanShape& shape = call.shape;
  detail::require_extents(operation, "y", out.y, in.u.extents());
  require_apart(operation, m, in, View<const T, 3, Cuda>(out.y), "y");
  gpu::require_writable(operation, out.y, "y");
  if (out.final_state.data()) {
    detail::require_extents(operation, "final_state", out.final_state,
                            std::array<index_t, 3>{shape.sequences, shape.channels, shape.states});
    SelectiveScanInput<T, S, Cuda> others = in;
    if (same_view(in.initial_state, out.final_state)) others.initial_state = {};
    require_apart(operation, m, others, View<const S, 3, Cuda>(out.final_state), "final_state");
    gpu::require_writable(operation, out.final_state, "final_state");
    if (overlaps(out.final_state, out.y)) {
      throw DomainError(std::string(operation) + ": final_state overlaps y in memory");
    }
  }
  index_t* const table =
      gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { return call.take_table(w); });
  if (call.empty()) return;
  const cudaStream_t stream = gpu::stream_of(e);
  constexpr int threads = 128;
  gpu::nn::with_scan_layout<threads>(shape.states, [&](auto layout) {
    using L = decltype(layout);
    gpu::nn::ScanForward<T, D> p{call.operands(stream, L::tile, table, gpu::nn::whole_quads(out.y)),
                                 call.parts, call.tiles(L::channels), gpu::strided(out.y),
                                 gpu::strided(out.final_state)};
    const unsigned blocks = call.blocks(p.tiles);
    if constexpr (L::width == 16 && !is_complex_v<S>) {
      if (call.plain()) {
        gpu::launch(operation,
                    p.operands.all_vectors ? gpu::nn::scan_forward<L, true, true, 0, T, D>
                                           : gpu::nn::scan_forward<L, true, false, 0, T, D>,
                    blocks, threads, stream, p);
        return;
      }
    }
    gpu::launch(operation, gpu::nn::scan_forward<L, false, false, 0, T, D>, blocks, threads, stream,
                p);
  });
}

#define STRUCTMAT_INSTANTIATE(T, S)                                                 \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T, S>(                    \
      const SelectiveScanView<T, S, Cuda>&, const SelectiveScanInput<T, S, Cuda>&); \
  template STRUCTMAT_EXPORT void apply<T, S>(                                       \
      const exec::cuda&, const SelectiveScanView<T, S, Cuda>&,                      \
      const SelectiveScanInput<T, S, Cuda>&, const SelectiveScanOutput<T, S, Cuda>&);
STRUCTMAT_FOR_DEVICE_SCANS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::nn
