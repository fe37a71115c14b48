#include "nn/selective_scan_forward.cuh"
#include "nn/selective_scan_host.cuh"
#include "nn/selective_scan_reverse.cuh"

namespace structmat::nn {

using Cuda = space::cuda;

namespace {

constexpr int forward_threads = 128, reverse_threads = 256;

/// Tokens between saved states: what is computed again for them stays in registers.
template <class S, class Layout>
constexpr int chunk_of_layout = (Layout::own > 4 ? 4 : 8) / (is_complex_v<S> ? 2 : 1);

template <class S>
struct ReverseArrays {
  index_t* table;
  S *saved, *a, *b, *c, *b_parts, *c_parts;
  float* parameters;
};

/// How the work of a call is cut for a layout of its reverse walk.
template <Storage T, class S, class Layout>
struct ReversePlan {
  static constexpr int chunk = chunk_of_layout<S, Layout>;
  static constexpr index_t most_slots = 64;

  explicit ReversePlan(const gpu::nn::ScanCall<T, S>& call_)
      : call(call_),
        tiles(call.tiles(Layout::channels)),
        slots(std::min(tiles, most_slots)),
        chunks(gpu::nn::slots_of(call.shape.batch, call.shape.length, call.shape.sequences,
                                 call.packed, chunk)) {}

  /// Sums over channels are taken for all b and c of the data, wanted or not: the query of the size knows
  /// operands only.
  ReverseArrays<S> take(gpu::Workspace& w) const {
    const ScanShape& s = call.shape;
    const index_t own = s.sequences * s.channels * s.states,
                  selected = call.parts * slots * s.batch * s.length * s.states;
    ReverseArrays<S> arrays{};
    arrays.table = call.take_table(w);
    arrays.saved = w.take<S>(chunks * s.channels * Layout::width);
    arrays.a = w.take<S>(own);
    if (!call.m.b.varying.data()) arrays.b = w.take<S>(own);
    if (!call.m.c.varying.data()) arrays.c = w.take<S>(own);
    arrays.parameters = w.take<float>(2 * s.sequences * s.channels);
    if (call.m.b.varying.data()) arrays.b_parts = w.take<S>(selected);
    if (call.m.c.varying.data()) arrays.c_parts = w.take<S>(selected);
    return arrays;
  }

  const gpu::nn::ScanCall<T, S>& call;
  index_t tiles, slots, chunks;
};

}  // namespace

template <Storage T, class S>
index_t apply_vjp_workspace_bytes(const SelectiveScanView<T, S, Cuda>& m,
                                  const SelectiveScanInput<T, S, Cuda>& in) {
  constexpr auto operation = "nn::selective_scan::apply_vjp_workspace_bytes";
  const gpu::nn::ScanCall<T, S> call(operation, m, in);
  index_t bytes = 0;
  gpu::nn::with_scan_layout<reverse_threads>(call.shape.states, [&](auto layout) {
    const ReversePlan<T, S, decltype(layout)> plan(call);
    bytes = gpu::counted(operation, [&](gpu::Workspace& w) { return plan.take(w); });
  });
  return bytes;
}

namespace {

/// Cotangents apart from operands and from those that are given, and not broadcast.
template <Storage T, class S>
void check_results(const gpu::nn::ScanCall<T, S>& call, const View<const T, 3, Cuda>& y_bar,
                   const View<const S, 3, Cuda>& final_state_bar,
                   const SelectiveScanCotangent<T, S, Cuda>& bar) {
  check_cotangents(call.operation, call.m, call.in, call.shape, bar);
  const auto all = [&](const auto& use) {
    use(bar.u, "the cotangent of u"), use(bar.z, "the cotangent of z");
    use(bar.delta, "the cotangent of delta"), use(bar.a, "the cotangent of a");
    use(bar.b, "the cotangent of b"), use(bar.c, "the cotangent of c");
    use(bar.b_varying, "the cotangent of b of the data");
    use(bar.c_varying, "the cotangent of c of the data");
    use(bar.d, "the cotangent of d"), use(bar.delta_bias, "the cotangent of delta_bias");
    use(bar.initial_state, "the cotangent of initial_state");
  };
  const auto refuse = [&](const auto& read, const char* of, const auto& written, const char* name) {
    if (read.data() && written.data() && overlaps(read, written)) {
      throw Unsupported(std::string(call.operation) + ": " + name + " overlaps " + of +
                        " in memory");
    }
  };
  all([&](const auto& written, const char* name) {
    if (!written.data()) return;
    gpu::require_writable(call.operation, written, name);
    refuse(y_bar, "y_bar", written, name);
    refuse(final_state_bar, "final_state_bar", written, name);
  });
}

template <Storage T, class S, class Layout>
struct ReverseCall {
  using D = gpu::device_scalar_t<S>;
  using Forward = gpu::nn::ScanLayout<forward_threads, Layout::lanes, Layout::own>;

  void walk() const {
    constexpr int chunk = ReversePlan<T, S, Layout>::chunk;
    const auto operands =
        call.operands(stream, chunk, arrays.table,
                      gpu::nn::whole_quads(y_bar) && gpu::nn::whole_quads(bar.u) &&
                          gpu::nn::whole_quads(bar.z) && gpu::nn::whole_quads(bar.delta));
    if constexpr (Layout::width == 16 && !is_complex_v<S>) {
      if (call.plain()) {
        operands.all_vectors ? walk<true, true>(operands) : walk<true, false>(operands);
        return;
      }
    }
    walk<false, false>(operands);
  }
  template <bool Plain, bool Vectors>
  void walk(const gpu::nn::ScanOperands<T, D>& operands) const {
    constexpr int chunk = ReversePlan<T, S, Layout>::chunk;
    const gpu::nn::ScanForward<T, D> forward{
        operands, call.parts, call.tiles(Forward::channels),
        {},       {},         gpu::device_pointer(arrays.saved)};
    gpu::launch(call.operation, gpu::nn::scan_forward<Forward, Plain, Vectors, chunk, T, D>,
                call.blocks(forward.tiles), forward_threads, stream, forward);
    gpu::nn::ScanReverse<T, D> p;
    p.operands = operands, p.parts = call.parts, p.tiles = plan.tiles, p.slots = plan.slots;
    p.saved = gpu::device_pointer(arrays.saved);
    p.y_bar = gpu::strided(y_bar), p.final_bar = gpu::strided(final_bar);
    p.u_bar = gpu::strided(bar.u), p.z_bar = gpu::strided(bar.z);
    p.delta_bar = gpu::strided(bar.delta), p.initial_bar = gpu::strided(bar.initial_state);
    p.accumulate = bar.accumulate;
    p.sums = sums();
    if (bar.b_varying.data()) p.b_parts = gpu::device_pointer(arrays.b_parts);
    if (bar.c_varying.data()) p.c_parts = gpu::device_pointer(arrays.c_parts);
    gpu::launch(call.operation, gpu::nn::scan_reverse<Layout, Plain, Vectors, chunk, T, D>,
                gpu::Grid{call.blocks(plan.slots), reverse_threads,
                          sizeof(gpu::nn::ReverseMemory<D, Layout>)},
                stream, p);
  }

  void sum_up() const {
    const ScanShape& s = call.shape;
    const auto blocks = [&](index_t work) {
      return gpu::persistent_blocks(work, reverse_threads, gpu::multiprocessors(call.operation));
    };
    const gpu::nn::ScanParameters<D> parameters{sums(),
                                                s.sequences,
                                                s.channels,
                                                s.states,
                                                gpu::strided(bar.a),
                                                gpu::strided(bar.b),
                                                gpu::strided(bar.c),
                                                gpu::strided(bar.d),
                                                gpu::strided(bar.delta_bias),
                                                bar.accumulate};
    if (bar.a.data() || bar.b.data() || bar.c.data() || bar.d.data() || bar.delta_bias.data()) {
      gpu::launch(call.operation, gpu::nn::scan_parameters<D>,
                  blocks(3 * s.channels * s.states + 2 * s.channels), reverse_threads, stream,
                  parameters);
    }
    const auto selected = [&](const S* parts, index_t groups, const auto& to) {
      if (!to.data() || to.empty()) return;
      gpu::launch(call.operation, gpu::nn::scan_selected<T, D>, blocks(to.size()), reverse_threads,
                  stream,
                  gpu::nn::ScanSelected<T, D>{gpu::device_pointer(parts), s.batch, s.length, groups,
                                              s.states, call.parts / groups * plan.slots,
                                              gpu::strided(to), bar.accumulate});
    };
    selected(arrays.b_parts, s.groups_b, bar.b_varying);
    selected(arrays.c_parts, s.groups_c, bar.c_varying);
  }

  gpu::nn::ScanSums<D> sums() const {
    return {gpu::device_pointer(arrays.a), gpu::device_pointer(arrays.b),
            gpu::device_pointer(arrays.c), arrays.parameters};
  }

  const gpu::nn::ScanCall<T, S>& call;
  const ReversePlan<T, S, Layout>& plan;
  const ReverseArrays<S>& arrays;
  const View<const T, 3, Cuda>& y_bar;
  const View<const S, 3, Cuda>& final_bar;
  const SelectiveScanCotangent<T, S, Cuda>& bar;
  cudaStream_t stream;
};

}  // namespace

template <Storage T, class S>
void apply_vjp(const exec::cuda& e, const SelectiveScanView<T, S, Cuda>& m,
               const SelectiveScanInput<T, S, Cuda>& in, View<const T, 3, Cuda> y_bar,
               View<const S, 3, Cuda> final_state_bar,
               const SelectiveScanCotangent<T, S, Cuda>& bar) {
  constexpr auto operation = "nn::selective_scan::apply_vjp";
  const gpu::nn::ScanCall<T, S> call(operation, m, in);
  detail::require_extents(operation, "y_bar", y_bar, in.u.extents());
  if (final_state_bar.data()) {
    detail::require_extents(
        operation, "final_state_bar", final_state_bar,
        std::array<index_t, 3>{call.shape.sequences, call.shape.channels, call.shape.states});
  }
  check_results(call, y_bar, final_state_bar, bar);
  gpu::nn::with_scan_layout<reverse_threads>(call.shape.states, [&](auto layout) {
    using L = decltype(layout);
    const ReversePlan<T, S, L> plan(call);
    const auto arrays =
        gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { return plan.take(w); });
    if (call.shape.channels == 0) return;
    const ReverseCall<T, S, L> reverse{
        call, plan, arrays, y_bar, final_state_bar, bar, gpu::stream_of(e)};
    if (!call.empty()) reverse.walk();
    reverse.sum_up();
  });
}

#define STRUCTMAT_INSTANTIATE(T, S)                                                          \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes<T, S>(                         \
      const SelectiveScanView<T, S, Cuda>&, const SelectiveScanInput<T, S, Cuda>&);          \
  template STRUCTMAT_EXPORT void apply_vjp<T, S>(                                            \
      const exec::cuda&, const SelectiveScanView<T, S, Cuda>&,                               \
      const SelectiveScanInput<T, S, Cuda>&, View<const T, 3, Cuda>, View<const S, 3, Cuda>, \
      const SelectiveScanCotangent<T, S, Cuda>&);
STRUCTMAT_FOR_DEVICE_SCANS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::nn
