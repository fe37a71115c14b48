/// \file
/// One head of one sequence of a call of the quasiseparable mixer.
#pragma once

#include <algorithm>

#include "nn/quasiseparable_mixer_checks.hpp"
#include "nn/ssd_task.hpp"

namespace structmat::nn {

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
