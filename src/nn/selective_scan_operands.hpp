/// \file
/// Checks of the operands of selective scans, whatever space they are in.
#pragma once

#include <array>
#include <string>

#include "nn/collect.hpp"
#include "structmat/nn/selective_scan.hpp"

namespace structmat::nn {

struct ScanShape {
  index_t batch, length, channels, states, sequences, groups_b, groups_c;
};

/// Shapes of all operands; starts in device memory are not read. Throws ShapeError, DomainError (starts).
template <Storage T, class S, class Space>
ScanShape check_operands(const std::string& operation, const SelectiveScanView<T, S, Space>& m,
                         const SelectiveScanInput<T, S, Space>& in) {
  ScanShape s{in.u.extent(0), in.u.extent(1), in.u.extent(2), m.a.extent(1), in.u.extent(0), 1, 1};
  detail::require_extents(operation, "delta", m.delta, in.u.extents());
  const std::array<index_t, 2> own{s.channels, s.states};
  const std::array<index_t, 1> a_channel{s.channels};
  detail::require_extents(operation, "a", m.a, own);
  const auto selected = [&](const char* name, const Selected<T, S, Space>& v) -> index_t {
    // Those of no tokens have no address either.
    const auto given = [](const auto& view, index_t states) { return view.data() || states > 0; };
    const bool constant = given(v.constant, v.constant.extent(1)),
               varying = given(v.varying, v.varying.extent(3));
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
    if constexpr (std::same_as<Space, space::host>) check_starts(operation, m.starts, s.length);
    s.sequences = m.starts.extent(0) - 1;
  }
  if (in.initial_state.data()) {
    detail::require_extents(operation, "initial_state", in.initial_state,
                            std::array<index_t, 3>{s.sequences, s.channels, s.states});
  }
  return s;
}

/// Throws DomainError where a result overlaps an operand.
template <Storage T, class S, class Space, class V>
void require_apart(const std::string& operation, const SelectiveScanView<T, S, Space>& m,
                   const SelectiveScanInput<T, S, Space>& in, const V& result, const char* name) {
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

/// Shapes of cotangents. Throws as the above.
template <Storage T, class S, class Space>
void check_cotangents(const char* operation, const SelectiveScanView<T, S, Space>& m,
                      const SelectiveScanInput<T, S, Space>& in, const ScanShape& s,
                      const SelectiveScanCotangent<T, S, Space>& bar) {
  CotangentCheck check(operation, [&](const auto& result, const char* name) {
    require_apart(operation, m, in, result, name);
  });
  const auto require = [&](const char* name, auto v, const auto& extents) {
    check(name, v, extents, v.extent(0));
  };
  const std::array<index_t, 2> own{s.channels, s.states};
  require("the cotangent of u", bar.u, in.u.extents());
  require("the cotangent of z", bar.z, in.u.extents());
  require("the cotangent of delta", bar.delta, in.u.extents());
  require("the cotangent of a", bar.a, own);
  require("the cotangent of b", bar.b, own);
  require("the cotangent of c", bar.c, own);
  require("the cotangent of b of the data", bar.b_varying, m.b.varying.extents());
  require("the cotangent of c of the data", bar.c_varying, m.c.varying.extents());
  require("the cotangent of d", bar.d, std::array<index_t, 1>{s.channels});
  require("the cotangent of delta_bias", bar.delta_bias, std::array<index_t, 1>{s.channels});
  require("the cotangent of initial_state", bar.initial_state,
          std::array<index_t, 3>{s.sequences, s.channels, s.states});
}

}  // namespace structmat::nn
