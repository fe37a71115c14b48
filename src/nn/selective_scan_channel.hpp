/// \file
/// One channel of one sequence of a selective scan.
#pragma once

#include "core/threads.hpp"
#include "nn/selective_scan_operands.hpp"
#include "nn/step_rule.hpp"
#include "structmat/core/array.hpp"

namespace structmat::nn {

/// alpha and beta / b of a step, and their derivatives.
template <class S>
struct Held {
  using R = real_t<S>;
  S alpha, phi;                            ///< beta = phi b
  S alpha_by_delta, alpha_by_a, phi_by_a;  ///< d alpha / d Delta, d alpha / d a, d phi / d a
  S phi_by_delta;

  Held(Hold hold, R delta, S a) {
    if (hold == Hold::first) {
      alpha = R(1) + delta * a;
      alpha_by_delta = a, alpha_by_a = S(delta);
    } else {
      alpha = std::exp(delta * a);
      alpha_by_delta = a * alpha, alpha_by_a = delta * alpha;
    }
    if (hold != Hold::zero) {
      phi = S(delta), phi_by_delta = S(1), phi_by_a = S(0);
      return;
    }
    // phi = (e^z - 1) / a, z = Delta a, and (Delta e^z - phi) / a: by their series where they cancel.
    phi_by_delta = alpha;
    const S z = delta * a;
    if (std::abs(z) > R(0.5)) {
      phi = (alpha - R(1)) / a;
      phi_by_a = (delta * alpha - phi) / a;
      return;
    }
    S term(1), sum(0), slope(0);  // term: z^k / (k + 1)!
    constexpr int terms = 18;
    for (int k = 0; k < terms; ++k) {
      sum += term;
      // d / dz of z^(k+1) / (k+2)! is (k + 1) z^k / (k + 2)!.
      slope += R(k + 1) / R(k + 2) * term;
      term = term * z / R(k + 2);
    }
    phi = delta * sum, phi_by_a = delta * delta * slope;
  }
};

template <Storage T, class S>
struct ScanChannel {
  using R = compute_t<T>;
  static constexpr R pairs = is_complex_v<S> ? 2 : 1;

  /// Number `at` of sequences x channels. Operands are checked.
  ScanChannel(const SelectiveScanView<T, S>& m_, const SelectiveScanInput<T, S>& in,
              const ScanShape& shape, index_t at)
      : m(m_),
        sequence(at / shape.channels),
        channel(at % shape.channels),
        states(shape.states),
        step{m.delta_bias.data() ? m.delta_bias(channel) : R(0), m.softplus, m.delta_min,
             m.delta_max},
        group_b(channel / (shape.channels / shape.groups_b)),
        group_c(channel / (shape.channels / shape.groups_c)) {
    const bool packed = m.starts.extent(0) > 0;
    entry = packed ? 0 : sequence;
    begin = packed ? m.starts(sequence) : 0;
    length = (packed ? m.starts(sequence + 1) : shape.length) - begin;
    u = part(in.u), delta = part(m.delta);
    if (in.z.data()) z = part(in.z);
    if (in.initial_state.data()) {
      initial = in.initial_state.select(0, sequence).select(0, channel);
    }
  }

  /// The tokens of an array like u.
  template <class U>
  View<U, 1> part(const View<U, 3>& v) const {
    return v.select(0, entry).slice(0, begin, begin + length).select(1, channel);
  }
  S b(index_t t, index_t n) const {
    return m.b.constant.data() ? m.b.constant(channel, n)
                               : static_cast<S>(m.b.varying(entry, begin + t, group_b, n));
  }
  S c(index_t t, index_t n) const {
    return m.c.constant.data() ? m.c.constant(channel, n)
                               : static_cast<S>(m.c.varying(entry, begin + t, group_c, n));
  }
  R raw(index_t t) const { return static_cast<R>(delta(t)); }
  R input(index_t t) const { return static_cast<R>(u(t)); }
  R skip() const { return m.d.data() ? m.d(channel) : R(0); }

  /// h := the state in front of the first token.
  void start(S* h) const {
    for (index_t n = 0; n < states; ++n) h[n] = initial.data() ? initial(n) : S(0);
  }
  /// h := that behind token t. Returns what the gate multiplies.
  R advance(index_t t, S* h) const {
    const R d = step(raw(t)), x = input(t);
    R sum = 0;
    for (index_t n = 0; n < states; ++n) {
      const Held<S> held(m.hold, d, m.a(channel, n));
      h[n] = held.alpha * h[n] + held.phi * b(t, n) * x;
      sum += std::real(c(t, n) * h[n]);
    }
    return pairs * sum + skip() * x;
  }

  const SelectiveScanView<T, S>& m;
  index_t sequence, channel, states;
  StepRule<R> step;
  index_t group_b, group_c, entry = 0, begin = 0, length = 0;
  View<const T, 1> u, delta, z;
  View<const S, 1> initial;
};

/// M(storage, scalar of states)
#define STRUCTMAT_FOR_SCANS(M)    \
  M(float, float)                 \
  M(float, std::complex<float>)   \
  M(double, double)               \
  M(double, std::complex<double>) \
  M(bf16, float)                  \
  M(bf16, std::complex<float>)

}  // namespace structmat::nn
