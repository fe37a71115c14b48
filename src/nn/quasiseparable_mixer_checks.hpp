/// \file
/// The two directions of a quasiseparable mixer as calls of SSD, whatever space their operands are in.
#pragma once

#include <string>

#include "nn/ssd_operands.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"

namespace structmat::nn {

template <Storage T, class Space = space::host>
struct MixerOperands {
  /// Checks everything but results. Throws ShapeError, DomainError.
  MixerOperands(const std::string& operation, const QuasiseparableMixerView<T, Space>& m,
                const View<const T, 4, Space>& x_)
      : shift(m.shift ? 1 : 0), x(x_), delta(m.delta), d(m.d) {
    for (int i = 0; i < 2; ++i) {
      const MixerDirection<T, Space>& direction = i == 0 ? m.forward : m.backward;
      ssd[i] = {direction.dt, m.a,        direction.b, direction.c, m.d,
                m.dt_bias,    m.softplus, m.dt_min,    m.dt_max,    m.starts};
      in[i] = {x, {}, direction.initial_state};
      shape[i] = check_operands(operation + (i == 0 ? ", forward" : ", backward"), ssd[i], in[i]);
    }
    if constexpr (std::same_as<Space, space::host>) {
      check_starts(operation, m.starts, shape[0].length);
    }
    if (delta.data()) {
      delta = delta.broadcast(0, shape[0].batch);
      detail::require_extents(
          operation, "delta", delta,
          std::array<index_t, 3>{shape[0].batch, shape[0].length, shape[0].heads});
    }
  }

  template <class V>
  void require_apart(const std::string& operation, const V& result, const char* name) const {
    for (int i = 0; i < 2; ++i) nn::require_apart(operation, ssd[i], in[i], result, name);
    if (result.data() && delta.data() && overlaps(delta, result)) {
      throw DomainError(operation + ": " + name + " overlaps delta in memory");
    }
  }

  index_t tasks() const { return shape[0].sequences * shape[0].heads; }

  index_t shift;
  View<const T, 4, Space> x;
  View<const T, 3, Space> delta;
  View<const compute_t<T>, 2, Space> d;
  SsdView<T, Space> ssd[2];
  SsdInput<T, Space> in[2];
  SsdShape shape[2];
};

}  // namespace structmat::nn
