/// \file
/// Checks of cotangents of SSD, whatever space they are in.
#pragma once

#include "nn/collect.hpp"
#include "nn/ssd_operands.hpp"

namespace structmat::nn {

/// Checks `bar` and broadcasts its batches; true where entries of the batch add to the same numbers.
template <Storage T, class Space>
bool check_cotangents(const char* operation, const SsdView<T, Space>& m,
                      const SsdInput<T, Space>& in, const SsdShape& s,
                      SsdCotangent<T, Space>& bar) {
  CotangentCheck check(operation, [&](const auto& result, const char* name) {
    require_apart(operation, m, in, result, name);
  });
  check("the cotangent of x", bar.x, in.x.extents(), s.batch);
  check("the cotangent of z", bar.z, in.x.extents(), s.batch);
  check("the cotangent of dt", bar.dt, m.dt.extents(), s.batch);
  check("the cotangent of B", bar.b, m.b.extents(), s.batch);
  check("the cotangent of C", bar.c, m.c.extents(), s.batch);
  check("the cotangent of initial_state", bar.initial_state,
        std::array<index_t, 4>{s.sequences, s.heads, s.channels, s.states}, s.sequences);
  check("the cotangent of a", bar.a, std::array<index_t, 1>{s.heads}, s.heads);
  check("the cotangent of dt_bias", bar.dt_bias, std::array<index_t, 1>{s.heads}, s.heads);
  check("the cotangent of D", bar.d, std::array<index_t, 2>{s.heads, s.channels}, s.heads);
  return check.shared();
}

}  // namespace structmat::nn
