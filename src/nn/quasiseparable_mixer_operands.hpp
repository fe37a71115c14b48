/// \file
/// The two directions of a quasiseparable mixer as calls of SSD.
#pragma once

#include <algorithm>

#include "nn/ssd_task.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"

namespace structmat::nn {

template <Storage T>
struct MixerOperands {
  /// Checks everything but results. Throws ShapeError, DomainError.
  MixerOperands(const std::string& operation, const QuasiseparableMixerView<T>& m,
                const View<const T, 4>& x_)
      : shift(m.shift ? 1 : 0), x(x_), delta(m.delta), d(m.d) {
    for (int i = 0; i < 2; ++i) {
      const MixerDirection<T>& direction = i == 0 ? m.forward : m.backward;
      ssd[i] = {direction.dt, m.a,        direction.b, direction.c, m.d,
                m.dt_bias,    m.softplus, m.dt_min,    m.dt_max,    m.starts};
      in[i] = {x, {}, direction.initial_state};
      shape[i] = check_operands(operation + (i == 0 ? ", forward" : ", backward"), ssd[i], in[i]);
    }
    check_starts(operation, m.starts, shape[0].length);
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
  View<const T, 4> x;
  View<const T, 3> delta;
  View<const compute_t<T>, 2> d;
  SsdView<T> ssd[2];
  SsdInput<T> in[2];
  SsdShape shape[2];
};

/// Both directions of one head of one sequence. Rows that walk with direction i are rows of walked(i, .).
template <Storage T>
struct MixerTask {
  using R = compute_t<T>;

  MixerTask(const MixerOperands<T>& o, index_t at)
      : direction{SsdTask<T>(o.ssd[0], o.in[0], o.shape[0], at),
                  SsdTask<T>(o.ssd[1], o.in[1], o.shape[1], at)},
        length(direction[0].head.length()),
        used(std::max<index_t>(length - o.shift, 0)),
        shift(length - used) {
    if (o.delta.data()) {
      delta = o.delta.select(0, direction[0].entry)
                  .slice(0, direction[0].begin, direction[0].end)
                  .select(1, direction[0].h);
    }
  }

  /// Of what a direction reads: the last token of its walk is not used when results are shifted.
  template <class U, int Rank>
  View<U, Rank> read(int i, const View<U, Rank>& rows) const {
    return (i == 0 ? rows : rows.reversed(0)).slice(0, 0, used);
  }
  /// Of what it writes.
  template <class U, int Rank>
  View<U, Rank> written(int i, const View<U, Rank>& rows) const {
    return (i == 0 ? rows : rows.reversed(0)).slice(0, shift, length);
  }
  Head<T> head(int i) const {
    const Head<T>& h = direction[i].head;
    return (i == 0 ? h : h.reversed()).part(0, used);
  }
  R diagonal(index_t t, index_t p) const {
    return direction[0].d(p) + (delta.data() ? static_cast<R>(delta(t)) : R(0));
  }

  SsdTask<T> direction[2];
  index_t length, used, shift;
  View<const T, 1> delta;
};

}  // namespace structmat::nn
