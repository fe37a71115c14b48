/// \file
/// One channel of one sequence of a selective scan.
#pragma once

#include <array>
#include <string>

#include "core/threads.hpp"
#include "nn/operands.hpp"
#include "nn/step_rule.hpp"
#include "structmat/core/array.hpp"
#include "structmat/nn/selective_scan.hpp"

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

struct ScanShape {
  index_t batch, length, channels, states, sequences, groups_b, groups_c;
};

/// Shapes of all operands. Throws ShapeError, DomainError (starts).
template <Storage T, class S>
ScanShape check_operands(const std::string& operation, const SelectiveScanView<T, S>& m,
                         const SelectiveScanInput<T, S>& in) {
  ScanShape s{in.u.extent(0), in.u.extent(1), in.u.extent(2), m.a.extent(1), in.u.extent(0), 1, 1};
  detail::require_extents(operation, "delta", m.delta, in.u.extents());
  const std::array<index_t, 2> own{s.channels, s.states};
  const std::array<index_t, 1> a_channel{s.channels};
  detail::require_extents(operation, "a", m.a, own);
  const auto selected = [&](const char* name, const Selected<T, S>& v) -> index_t {
    const bool constant = v.constant.data() != nullptr, varying = v.varying.data() != nullptr;
    if (constant && varying) {
      throw ShapeError(operation + ": " + name + " is both constant and of the data");
    }
    if (!varying) {
      detail::require_extents(operation, name, v.constant, own);
      return 1;
    }
    const index_t groups = v.varying.extent(2);
    detail::require_extents(operation, name, v.varying,
                            std::array<index_t, 4>{s.batch, s.length, groups, s.states});
    if (groups == 0 ? s.channels != 0 : s.channels % groups != 0) {
      throw ShapeError(operation + ": " + std::to_string(s.channels) + " channels in " +
                       std::to_string(groups) + " groups of " + name);
    }
    return groups;
  };
  s.groups_b = selected("b", m.b), s.groups_c = selected("c", m.c);
  if (m.d.data()) detail::require_extents(operation, "d", m.d, a_channel);
  if (m.delta_bias.data()) {
    detail::require_extents(operation, "delta_bias", m.delta_bias, a_channel);
  }
  if (in.z.data()) detail::require_extents(operation, "z", in.z, in.u.extents());
  if (m.starts.extent(0) > 0) {
    require_one_entry(operation, s.batch);
    check_starts(operation, m.starts, s.length);
    s.sequences = m.starts.extent(0) - 1;
  }
  if (in.initial_state.data()) {
    detail::require_extents(operation, "initial_state", in.initial_state,
                            std::array<index_t, 3>{s.sequences, s.channels, s.states});
  }
  return s;
}

/// Throws DomainError where a result overlaps an operand.
template <Storage T, class S, class V>
void require_apart(const std::string& operation, const SelectiveScanView<T, S>& m,
                   const SelectiveScanInput<T, S>& in, const V& result, const char* name) {
  if (!result.data()) return;
  const auto apart = [&](const auto& operand, const char* of) {
    if (operand.data() && overlaps(operand, result)) {
      throw DomainError(operation + ": " + name + " overlaps " + of + " in memory");
    }
  };
  apart(m.delta, "delta"), apart(m.a, "a"), apart(m.b.constant, "b"), apart(m.b.varying, "b");
  apart(m.c.constant, "c"), apart(m.c.varying, "c"), apart(m.d, "d");
  apart(m.delta_bias, "delta_bias"), apart(in.u, "u"), apart(in.z, "z");
  apart(in.initial_state, "initial_state");
}

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
