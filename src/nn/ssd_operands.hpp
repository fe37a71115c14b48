/// \file
/// Checks of the operands of SSD, whatever space they are in.
#pragma once

#include <string>

#include "nn/operands.hpp"
#include "structmat/nn/ssd.hpp"

namespace structmat::nn {

/// Extents of one call.
struct SsdShape {
  index_t batch, length, heads, channels, groups, states, sequences;
};

/// Shapes of all operands, with batch extents 1 broadcast. Throws ShapeError.
template <Storage T, class Space>
SsdShape check_operands(const std::string& operation, SsdView<T, Space>& m,
                        SsdInput<T, Space>& in) {
  SsdShape s{in.x.extent(0), in.x.extent(1), in.x.extent(2), in.x.extent(3),
             m.b.extent(2),  m.b.extent(3),  in.x.extent(0)};
  const auto require = [&](const char* name, auto& v, const auto& extents) {
    v = v.broadcast(0, s.batch);
    detail::require_extents(operation, name, v, extents);
  };
  using E3 = std::array<index_t, 3>;
  using E4 = std::array<index_t, 4>;
  require("dt", m.dt, E3{s.batch, s.length, s.heads});
  require("B", m.b, E4{s.batch, s.length, s.groups, s.states});
  require("C", m.c, E4{s.batch, s.length, s.groups, s.states});
  if (s.groups == 0 ? s.heads != 0 : s.heads % s.groups != 0) {
    throw ShapeError(operation + ": " + std::to_string(s.heads) + " heads in " +
                     std::to_string(s.groups) + " groups");
  }
  const std::array<index_t, 1> a_head{s.heads};
  detail::require_extents(operation, "a", m.a, a_head);
  if (m.dt_bias.data()) detail::require_extents(operation, "dt_bias", m.dt_bias, a_head);
  if (m.d.data()) {
    detail::require_extents(operation, "D", m.d, std::array<index_t, 2>{s.heads, s.channels});
  }
  if (in.z.data()) require("z", in.z, in.x.extents());
  if (m.starts.extent(0) > 0) {
    require_one_entry(operation, s.batch);
    s.sequences = m.starts.extent(0) - 1;
  }
  if (in.initial_state.data()) {
    in.initial_state = in.initial_state.broadcast(0, s.sequences);
    detail::require_extents(operation, "initial_state", in.initial_state,
                            E4{s.sequences, s.heads, s.channels, s.states});
  }
  return s;
}

/// Throws DomainError where a result overlaps an operand.
template <Storage T, class Space, class V>
void require_apart(const std::string& operation, const SsdView<T, Space>& m,
                   const SsdInput<T, Space>& in, const V& result, const char* name) {
  if (!result.data()) return;
  const auto apart = [&](const auto& operand, const char* of) {
    if (operand.data() && overlaps(operand, result)) {
      throw DomainError(operation + ": " + name + " overlaps " + of + " in memory");
    }
  };
  apart(m.dt, "dt"), apart(m.a, "a"), apart(m.b, "B"), apart(m.c, "C"), apart(m.d, "D");
  apart(m.dt_bias, "dt_bias"), apart(in.x, "x"), apart(in.z, "z");
  apart(in.initial_state, "initial_state");
}

}  // namespace structmat::nn
