/// \file
/// Checks of the operands of SSD, whatever space they are in.
#pragma once

#include <string>

#include "structmat/core/error.hpp"
#include "structmat/nn/ssd.hpp"

namespace structmat::nn {

/// Extents of one call.
struct SsdShape {
  index_t batch, length, heads, channels, groups, states, sequences;
};

namespace detail {

template <class V, std::size_t Rank>
void require_extents(const std::string& operation, const char* name, const V& v,
                     const std::array<index_t, Rank>& extents) {
  if (v.extents() == extents) return;
  const auto text = [](const auto& e) {
    std::string s;
    for (const index_t n : e) s += (s.empty() ? "" : " x ") + std::to_string(n);
    return s;
  };
  throw ShapeError(operation + ": " + name + " is " + text(v.extents()) + ", expected " +
                   text(extents));
}

}  // namespace detail

/// Shapes of all operands, with batch extents 1 broadcast. Throws ShapeError.
template <Storage T, class Space>
SsdShape check_operands(const std::string& operation, SsdView<T, Space>& m, SsdInput<T, Space>& in) {
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
    if (s.batch != 1) {
      throw ShapeError(operation + ": packed sequences in a batch of " + std::to_string(s.batch) +
                       ", expected 1");
    }
    s.sequences = m.starts.extent(0) - 1;
  }
  if (in.initial_state.data()) {
    in.initial_state = in.initial_state.broadcast(0, s.sequences);
    detail::require_extents(operation, "initial_state", in.initial_state,
                            E4{s.sequences, s.heads, s.channels, s.states});
  }
  return s;
}

/// Throws DomainError unless `starts` is 0 ... length in order.
inline void check_starts(const std::string& operation, const Starts<>& starts, index_t length) {
  const index_t count = starts.extent(0);
  if (count == 0) return;
  if (starts(0) != 0 || starts(count - 1) != length) {
    throw DomainError(operation + ": sequences cover tokens " + std::to_string(starts(0)) + " to " +
                      std::to_string(starts(count - 1)) + ", there are 0 to " +
                      std::to_string(length));
  }
  for (index_t s = 1; s < count; ++s) {
    if (starts(s) < starts(s - 1)) {
      throw DomainError(operation + ": sequence " + std::to_string(s) + " starts at token " +
                        std::to_string(starts(s)) + ", before the one in front of it at " +
                        std::to_string(starts(s - 1)));
    }
  }
}

}  // namespace structmat::nn
