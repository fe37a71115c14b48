/// \file
/// Products and solves with a unit triangle of an LDL factor, in place, one batch entry:
///
///   solve:     y_i -= out_i^T s;  s := a_i s + in_i y_i             (the new y_i)
///   multiply:  y_i' = y_i + out_i^T s;  s := a_i s + in_i y_i       (the old y_i)
///
/// with s = 0 before row 0, of which out and a are not read.
#pragma once

#include "quasiseparable/state_lanes.hpp"
#include "recurrence/sweep.hpp"

namespace structmat::quasiseparable {

/// Generators of a unit triangle in sweep order, or places for their cotangents. E: T or const T.
template <class E, transition::Uniform K>
struct UnitTriangle {
  static constexpr int dims = transition_dimensions<K>;
  View<E, 2> out{}, in{};
  View<E, dims> a{};

  /// L, swept from row 0.
  static UnitTriangle lower(const View<E, 2>& p, const View<E, 2>& w,
                            const View<E, K::rank - 1>& a) {
    return {p, w, transitions_over_states<K>(a, p.extent(1))};
  }
  /// L^T, swept from row n-1.
  UnitTriangle transposed() const {
    UnitTriangle t{in.reversed(0), out.reversed(0), a};
    if constexpr (dims == 3) t.a = a.transposed();
    t.a = t.a.reversed(0);
    return t;
  }
};

/// The sweep over all rows of one triangle for the columns of y, run by run.
template <Scalar T, transition::Uniform K>
class UnitSweep {
 public:
  using R = real_t<T>;

  /// For `columns` columns.
  UnitSweep(const UnitTriangle<const T, K>& triangle, bool solve, index_t columns);

  /// y: rows begin <= i < end, at most chunk_rows of them, which follow those of the previous call.
  void rows(index_t begin, index_t end, const View<T, 2>& y);

  /// s of column c before the next row, in padded form; with fewer than three columns only.
  const R* state(index_t c) const { return state_.data() + c * layout_.vector(); }
  R* state(index_t c) { return state_.data() + c * layout_.vector(); }

 private:
  static constexpr index_t lanes = recurrence::tile_width<T>;

  template <bool Solve>
  void one_column(index_t begin, index_t end, const View<T, 1>& y, R* state);
  template <bool Solve, int W>
  void tile(index_t begin, index_t end, const View<T, 2>& y, R* state);

  Layout<T> layout_;
  UnitTriangle<const T, K> triangle_;
  bool solve_, by_column_;
  index_t columns_;
  PaddedRows<T, 2> out_, in_;
  PaddedRows<T, transition_dimensions<K>> a_;
  Array<R, 1> state_, spare_, packed_;
};

}  // namespace structmat::quasiseparable
