/// \file
/// Checks of the operands of short convolutions, whatever space they are in.
#pragma once

#include <string>

#include "nn/operands.hpp"
#include "structmat/nn/conv1d.hpp"

namespace structmat::nn {

template <Storage T, class Space = space::host>
struct Conv1dOperands {
  using R = compute_t<T>;
  static constexpr index_t most_taps = 8;

  /// Checks everything but results; starts in device memory are not read. Throws ShapeError, DomainError.
  Conv1dOperands(const std::string& operation_, const Conv1dView<T, Space>& m_,
                 const Conv1dInput<T, Space>& in_)
      : operation(operation_),
        m(m_),
        in(in_),
        taps(m.weight.extent(1)),
        batch(in.x.extent(0)),
        length(in.x.extent(1)),
        channels(in.x.extent(2)),
        sequences(batch) {
    if (taps < 1 || taps > most_taps) {
      throw ShapeError(operation + ": filters of " + std::to_string(taps) +
                       " taps, expected 1 to " + std::to_string(most_taps));
    }
    detail::require_extents(operation, "weight", m.weight, std::array<index_t, 2>{channels, taps});
    if (m.bias.data()) {
      detail::require_extents(operation, "bias", m.bias, std::array<index_t, 1>{channels});
    }
    if (m.ahead < 0 || m.ahead >= taps) {
      throw DomainError(operation + ": " + std::to_string(m.ahead) + " of " + std::to_string(taps) +
                        " taps ahead");
    }
    if (m.starts.extent(0) > 0) {
      require_one_entry(operation, batch);
      if constexpr (std::same_as<Space, space::host>) check_starts(operation, m.starts, length);
      sequences = m.starts.extent(0) - 1;
    }
    require_state("initial_state", in.initial_state);
  }

  void require_results(const Conv1dOutput<T, Space>& out) const {
    detail::require_extents(operation, "y", out.y, in.x.extents());
    require_state("final_state", out.final_state);
    require_apart("y", View<const T, 3, Space>(out.y));
    if (!same_view(in.initial_state, out.final_state)) {
      require_apart("final_state", View<const R, 3, Space>(out.final_state));
    }
  }
  void require_cotangents(const View<const T, 3, Space>& y_bar,
                          const View<const R, 3, Space>& final_state_bar,
                          const Conv1dCotangent<T, Space>& bar) const {
    detail::require_extents(operation, "y_bar", y_bar, in.x.extents());
    require_state("final_state_bar", final_state_bar);
    const auto require = [&](const char* name, const auto& v, const auto& extents) {
      if (v.data()) detail::require_extents(operation, name, v, extents);
    };
    require("the cotangent of x", bar.x, in.x.extents());
    require("the cotangent of weight", bar.weight, m.weight.extents());
    require("the cotangent of bias", bar.bias, std::array<index_t, 1>{channels});
    require_state("the cotangent of initial_state", bar.initial_state);
    require_apart("the cotangent of x", View<const T, 3, Space>(bar.x));
    require_apart("the cotangent of weight", View<const R, 2, Space>(bar.weight));
    require_apart("the cotangent of bias", View<const R, 1, Space>(bar.bias));
    require_apart("the cotangent of initial_state", View<const R, 3, Space>(bar.initial_state));
  }

  std::string operation;
  Conv1dView<T, Space> m;
  Conv1dInput<T, Space> in;
  index_t taps, batch, length, channels, sequences;

 private:
  template <class V>
  void require_state(const char* name, const V& v) const {
    if (!v.data()) return;
    detail::require_extents(operation, name, v,
                            std::array<index_t, 3>{sequences, channels, taps - 1});
    if (m.ahead > 0) {
      throw DomainError(operation + ": " + name + " of a filter with " + std::to_string(m.ahead) +
                        " taps ahead, only causal ones have a state");
    }
  }
  template <class V>
  void require_apart(const char* name, const V& v) const {
    if (!v.data()) return;
    const auto apart = [&](const auto& operand, const char* of) {
      if (operand.data() && overlaps(operand, v)) {
        throw DomainError(operation + ": " + name + " overlaps " + of + " in memory");
      }
    };
    apart(in.x, "x"), apart(m.weight, "weight"), apart(m.bias, "bias");
    apart(in.initial_state, "initial_state");
  }
};

}  // namespace structmat::nn
