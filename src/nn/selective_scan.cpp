#include "structmat/nn/selective_scan.hpp"

#include <vector>

#include "nn/selective_scan_channel.hpp"

namespace structmat::nn {

template <Storage T, class S>
void apply(const exec::cpu& e, const SelectiveScanView<T, S>& m, const SelectiveScanInput<T, S>& in,
           const SelectiveScanOutput<T, S>& out) {
  using R = compute_t<T>;
  constexpr auto operation = "nn::selective_scan::apply";
  const ScanShape shape = check_operands(operation, m, in);
  detail::require_extents(operation, "y", out.y, in.u.extents());
  require_apart(operation, m, in, View<const T, 3>(out.y), "y");
  if (out.final_state.data()) {
    detail::require_extents(operation, "final_state", out.final_state,
                            std::array<index_t, 3>{shape.sequences, shape.channels, shape.states});
    SelectiveScanInput<T, S> others = in;
    if (same_view(in.initial_state, out.final_state)) others.initial_state = {};
    require_apart(operation, m, others, View<const S, 3>(out.final_state), "final_state");
  }
  const int team = team_for(e.threads, 16 * in.u.size() * shape.states);
  parallel_for(team, shape.sequences * shape.channels, [&](index_t at) {
    const ScanChannel<T, S> scan(m, in, shape, at);
    std::vector<S> h(static_cast<std::size_t>(shape.states));
    scan.start(h.data());
    const View<T, 1> y = scan.part(out.y);
    for (index_t t = 0; t < scan.length; ++t) {
      const R v = scan.advance(t, h.data());
      y(t) = static_cast<T>(scan.z.data() ? v * silu(static_cast<R>(scan.z(t))) : v);
    }
    for (index_t n = 0; out.final_state.data() && n < shape.states; ++n) {
      out.final_state(scan.sequence, scan.channel, n) = h[n];
    }
  });
}

#define STRUCTMAT_INSTANTIATE(T, S)                                                            \
  template STRUCTMAT_EXPORT void apply<T, S>(const exec::cpu&, const SelectiveScanView<T, S>&, \
                                             const SelectiveScanInput<T, S>&,                  \
                                             const SelectiveScanOutput<T, S>&);
STRUCTMAT_FOR_SCANS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::nn
