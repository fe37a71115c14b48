#include <vector>

#include "nn/collect.hpp"
#include "nn/selective_scan_channel.hpp"

namespace structmat::nn {
namespace {

constexpr auto operation = "nn::selective_scan::apply_vjp";

/// In which sums over tokens are kept.
template <class S>
using wide_t = std::conditional_t<is_complex_v<S>, std::complex<double>, double>;

/// What a channel adds.
template <Storage T, class S>
struct Shares {
  using R = compute_t<T>;
  using W = wide_t<S>;

  Shares(index_t length, index_t states)
      : u({length}),
        z({length}),
        delta({length}),
        b({length, states}),
        c({length, states}),
        a(states),
        b_sum(states),
        c_sum(states) {}

  Array<R, 1> u, z, delta;
  Array<S, 2> b, c;
  std::vector<W> a, b_sum, c_sum;
  double d = 0, delta_bias = 0;
};

template <Storage T, class S>
Shares<T, S> pull_back(const ScanChannel<T, S>& scan, const View<const T, 1>& y_bar,
                       const View<const S, 1>& final_bar, const View<S, 1>& initial_bar) {
  using R = compute_t<T>;
  using W = wide_t<S>;
  const index_t states = scan.states;
  Shares<T, S> shares(scan.length, states);
  // Row t: the state in front of token t.
  Array<S, 2> h({scan.length + 1, states}, uninitialized);
  Array<R, 1> gated({scan.length}, uninitialized);  // what the gate multiplies
  scan.start(h.data());
  for (index_t t = 0; t < scan.length; ++t) {
    S* const next = h.data() + (t + 1) * states;
    std::copy_n(h.data() + t * states, states, next);
    gated(t) = scan.advance(t, next);
  }
  std::vector<S> g(static_cast<std::size_t>(states));
  for (index_t n = 0; n < states; ++n) g[n] = final_bar.data() ? final_bar(n) : S(0);
  for (index_t t = scan.length - 1; t >= 0; --t) {
    R y = static_cast<R>(y_bar(t));
    if (scan.z.data()) {
      const R z = static_cast<R>(scan.z(t));
      shares.z(t) = y * gated(t) * silu_slope(z);
      y *= silu(z);
    }
    const R raw = scan.raw(t), delta = scan.step(raw), x = scan.input(t);
    R delta_bar = 0, u_bar = scan.skip() * y;
    for (index_t n = 0; n < states; ++n) {
      const S a = scan.m.a(scan.channel, n), b = scan.b(t, n), before = h(t, n);
      const Held<S> held(scan.m.hold, delta, a);
      const R seen = ScanChannel<T, S>::pairs * y;
      g[n] += seen * conjugate(scan.c(t, n));
      const S c_bar = seen * conjugate(h(t + 1, n)), alpha_bar = conjugate(before) * g[n],
              beta_bar = x * g[n], b_bar = conjugate(held.phi) * beta_bar,
              phi_bar = conjugate(b) * beta_bar;
      const S a_bar = conjugate(held.alpha_by_a) * alpha_bar + conjugate(held.phi_by_a) * phi_bar;
      delta_bar += std::real(conjugate(held.alpha_by_delta) * alpha_bar +
                             conjugate(held.phi_by_delta) * phi_bar);
      u_bar += std::real(conjugate(held.phi * b) * g[n]);
      shares.a[n] += static_cast<W>(a_bar);
      shares.b(t, n) = b_bar, shares.c(t, n) = c_bar;
      shares.b_sum[n] += static_cast<W>(b_bar), shares.c_sum[n] += static_cast<W>(c_bar);
      g[n] *= conjugate(held.alpha);
    }
    shares.u(t) = u_bar;
    shares.delta(t) = delta_bar * scan.step.slope(raw);
    shares.delta_bias += static_cast<double>(shares.delta(t));
    shares.d += static_cast<double>(y) * static_cast<double>(x);
  }
  for (index_t n = 0; initial_bar.data() && n < states; ++n) initial_bar(n) += g[n];
  return shares;
}

template <Storage T, class S>
class Collector {
 public:
  Collector(const SelectiveScanCotangent<T, S>& bar, const ScanShape& shape)
      : bar_(bar), shape_(shape), b_(bar.b_varying), c_(bar.c_varying) {}

  void add_channel(const ScanChannel<T, S>& scan, const Shares<T, S>& s) {
    add_tokens(scan, s.u, bar_.u);
    add_tokens(scan, s.z, bar_.z);
    add_tokens(scan, s.delta, bar_.delta);
    add_states(scan.channel, s.a, bar_.a);
    add_states(scan.channel, s.b_sum, bar_.b);
    add_states(scan.channel, s.c_sum, bar_.c);
    b_.add(place(scan, scan.group_b, shape_.groups_b), s.b);
    c_.add(place(scan, scan.group_c, shape_.groups_c), s.c);
    add_parameter(scan.channel, s.d, bar_.d);
    add_parameter(scan.channel, s.delta_bias, bar_.delta_bias);
  }

 private:
  GroupPlace place(const ScanChannel<T, S>& scan, index_t group, index_t groups) const {
    const index_t members = shape_.channels / groups;
    return {scan.entry, scan.begin, group, scan.channel % members, members};
  }
  template <class R>
  static void add_tokens(const ScanChannel<T, S>& scan, const Array<R, 1>& v,
                         const View<T, 3>& to) {
    if (!to.data()) return;
    const View<T, 1> own = scan.part(to);
    for (index_t t = 0; t < v.size(); ++t) add(own(t), v(t));
  }
  template <class W>
  static void add_states(index_t channel, const std::vector<W>& v, const View<S, 2>& to) {
    if (!to.data()) return;
    for (index_t n = 0; n < to.extent(1); ++n) to(channel, n) += static_cast<S>(v[n]);
  }

  SelectiveScanCotangent<T, S> bar_;
  ScanShape shape_;
  GroupSum<selected_t<T, S>, S> b_, c_;
};

}  // namespace

template <Storage T, class S>
void apply_vjp(const exec::cpu& e, const SelectiveScanView<T, S>& m,
               const SelectiveScanInput<T, S>& in, View<const T, 3> y_bar,
               View<const S, 3> final_state_bar, const SelectiveScanCotangent<T, S>& bar) {
  const ScanShape shape = check_operands(operation, m, in);
  detail::require_extents(operation, "y_bar", y_bar, in.u.extents());
  if (final_state_bar.data()) {
    detail::require_extents(operation, "final_state_bar", final_state_bar,
                            std::array<index_t, 3>{shape.sequences, shape.channels, shape.states});
  }
  check_cotangents(operation, m, in, shape, bar);
  const KeptStates<S, 3> last_bar(final_state_bar, bar.initial_state, !bar.accumulate);
  if (!bar.accumulate) {
    clear_cotangents(operation, y_bar, bar.u, bar.z, bar.delta, bar.a, bar.b, bar.c, bar.b_varying,
                     bar.c_varying, bar.d, bar.delta_bias, bar.initial_state);
  }
  const int team = team_for(e.threads, 64 * in.u.size() * shape.states);
  Collector<T, S> collector(bar, shape);
  const auto state_of = [](const auto& v, const ScanChannel<T, S>& scan) {
    using V = std::remove_cvref_t<decltype(v)>;
    return v.data() ? v.select(0, scan.sequence).select(0, scan.channel)
                    : View<typename V::element_type, 1>();
  };
  in_waves<Shares<T, S>>(
      team, shape.sequences * shape.channels,
      [&](index_t at) {
        const ScanChannel<T, S> scan(m, in, shape, at);
        return pull_back<T, S>(scan, scan.part(y_bar), state_of(last_bar.view, scan),
                               state_of(bar.initial_state, scan));
      },
      [&](index_t at, const Shares<T, S>& s) {
        collector.add_channel(ScanChannel<T, S>(m, in, shape, at), s);
      });
}

#define STRUCTMAT_INSTANTIATE(T, S)                                                      \
  template STRUCTMAT_EXPORT void apply_vjp<T, S>(                                        \
      const exec::cpu&, const SelectiveScanView<T, S>&, const SelectiveScanInput<T, S>&, \
      View<const T, 3>, View<const S, 3>, const SelectiveScanCotangent<T, S>&);
STRUCTMAT_FOR_SCANS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::nn
