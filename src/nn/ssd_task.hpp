/// \file
/// One head of one sequence of a call of SSD.
#pragma once

#include <vector>

#include "nn/activation.hpp"
#include "nn/ssd_head.hpp"
#include "nn/ssd_operands.hpp"

namespace structmat::nn {

template <Storage T>
struct SsdTask {
  using R = compute_t<T>;

  /// Task number `at` of sequences x heads. Operands are checked.
  SsdTask(const SsdView<T>& m, const SsdInput<T>& in, const SsdShape& shape, index_t at)
      : sequence(at / shape.heads),
        h(at % shape.heads),
        heads_of_group(shape.heads / shape.groups),
        group(h / heads_of_group) {
    const bool packed = m.starts.extent(0) > 0;
    entry = packed ? 0 : sequence;
    begin = packed ? m.starts(sequence) : 0;
    end = packed ? m.starts(sequence + 1) : shape.length;
    head = {part(in.x),
            m.dt.select(0, entry).slice(0, begin, end).select(1, h),
            m.b.select(0, entry).slice(0, begin, end).select(1, group),
            m.c.select(0, entry).slice(0, begin, end).select(1, group),
            m.a(h),
            {m.dt_bias.data() ? m.dt_bias(h) : R(0), m.softplus, m.dt_min, m.dt_max}};
    if (m.d.data()) skip = m.d.select(0, h);
    if (in.z.data()) z = part(in.z);
    if (in.initial_state.data()) {
      initial_state = in.initial_state.select(0, sequence).select(0, h);
    }
  }

  /// (tokens, channels) of an array like x.
  template <class U>
  View<U, 2> part(const View<U, 4>& v) const {
    return v.select(0, entry).slice(0, begin, end).select(1, h);
  }
  R d(index_t p) const { return skip.data() ? skip(p) : R(0); }
  std::vector<R> d_of_channels() const {
    std::vector<R> v(head.x.extent(1));
    for (index_t p = 0; p < head.x.extent(1); ++p) v[p] = d(p);
    return v;
  }

  index_t sequence, h, heads_of_group, group, entry, begin, end;
  Head<T> head;
  View<const R, 1> skip;
  View<const T, 2> z;
  View<const R, 2> initial_state;
};

}  // namespace structmat::nn
