/// \file
/// The leaf loops of reverse sweeps. For a recurrence of sweep.hpp and a cotangent y_bar of y,
/// with lambda the cotangent of the state behind row i (of the state used by y_i, after):
///
///   after:   lambda += conj(out_i) y_bar_i;  out_bar_i += conj(s_{i+1}) y_bar_i
///            in_bar_i += lambda conj(x_i);   x_bar_i += in_i^H lambda
///            transition_bar_i += lambda s_i^H;   lambda := transition_i^H lambda
///   before:  lambda += conj(out_i) y_bar_i;  out_bar_i += conj(s_i) y_bar_i
///
/// for i from the last row to row 0, where s_i is the state in front of row i (sums over
/// right-hand sides). Vectors run along the states, so that a cotangent of generators is summed
/// over right-hand sides in registers.
#pragma once

#include "recurrence/sweep.hpp"

namespace structmat::recurrence {

/// States in one vector.
inline constexpr int state_lanes = 8;

/// Right-hand sides that share a row's generators while those are in registers.
inline constexpr index_t columns_together = 4;

/// Vectors of lanes that r states take, the last one filled up with zeros.
constexpr index_t lane_groups(index_t r) {
  return (r + state_lanes - 1) / state_lanes;
}

/// Real numbers in one vector of lanes: complex ones are separated, see simd::Lanes.
template <Scalar T>
inline constexpr index_t lane_reals = is_complex_v<T> ? 2 * state_lanes : state_lanes;

/// Generators or cotangents as vectors of lanes: those of row i begin at data + i * step; row l of
/// a matrix another l * row further.
template <class R>
struct LaneRows {
  R* data = nullptr;
  index_t step = 0, row = 0;
};

/// A run of consecutive rows of one triangle.
template <Scalar T>
struct AdjointRun {
  using R = real_t<T>;
  LaneRows<const R> out, in;
  LaneRows<const R> transition;  ///< Scalar: numbers instead of lanes
  LaneRows<const R> transposed;  ///< Dense: the transposed transitions
  LaneRows<R> out_bar, in_bar, transition_bar;
  const T *x, *y_bar;  ///< (count, columns), row-major
  T* x_bar;            ///< the same; added to
  index_t columns, count, order;
  bool fresh;  ///< starts with row 0 of the sweep: transition (and, before, out) of it unread
  bool last;   ///< ends with the last row: before, nothing depends on in and transition of it
  Emit emit;
};

/// Numbers of type real_t<T> that `record` needs for a run of `count` rows.
template <Scalar T>
constexpr index_t record_size(index_t count, index_t order) {
  return (count + 2) * columns_together * lane_groups(order) * lane_reals<T>;
}

/// state := the state behind the run; (columns, groups) vectors of lanes.
template <Scalar T, transition::Uniform K>
void advance(const AdjointRun<T>& run, real_t<T>* state, real_t<T>* record);

/// All cotangents of the run. state: in front of it; adjoint: cotangent of the state behind it in,
/// of the one in front of it out.
template <Scalar T, transition::Uniform K>
void pull_back(const AdjointRun<T>& run, const real_t<T>* state, real_t<T>* adjoint,
               real_t<T>* record);

}  // namespace structmat::recurrence
