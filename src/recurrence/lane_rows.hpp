/// \file
/// Generators and cotangents of a run of rows as vectors of lanes: used where they lie if they fill
/// whole vectors, copied if not.
#pragma once

#include <algorithm>

#include "recurrence/sweep_vjp.hpp"
#include "structmat/core/array.hpp"

namespace structmat::recurrence {

/// Do the last extents of v, of real numbers, fill whole vectors next to each other?
template <class T, int Rank>
constexpr bool whole_lanes(const View<T, Rank>& v) {
  return RealScalar<std::remove_const_t<T>> && v.extent(Rank - 1) % state_lanes == 0 &&
         v.stride(Rank - 1) == 1;
}

/// At least `size` numbers; what they were is lost when there were fewer.
template <class R>
void reserve(Array<R, 1>& memory, index_t size) {
  if (memory.size() < size) memory = Array<R, 1>({size});
}

template <Scalar T>
void pack_lanes(const View<const T, 1>& from, real_t<T>* to) {
  const index_t r = from.extent(0);
  for (index_t l = 0; l < r; l += state_lanes, to += lane_reals<T>) {
    const index_t width = std::min<index_t>(state_lanes, r - l);
    std::fill_n(to, lane_reals<T>, real_t<T>{0});
    for (index_t u = 0; u < width; ++u) {
      const T v = from(l + u);
      to[u] = std::real(v);
      if constexpr (is_complex_v<T>) to[state_lanes + u] = v.imag();
    }
  }
}

template <Scalar T>
void add_lanes(const real_t<T>* from, const View<T, 1>& to) {
  const index_t r = to.extent(0);
  for (index_t l = 0; l < r; l += state_lanes, from += lane_reals<T>) {
    const index_t width = std::min<index_t>(state_lanes, r - l);
    for (index_t u = 0; u < width; ++u) {
      if constexpr (is_complex_v<T>) {
        to(l + u) += T(from[u], from[state_lanes + u]);
      } else {
        to(l + u) += from[u];
      }
    }
  }
}

/// Real numbers that a row of r states takes in vectors of lanes.
template <Scalar T>
constexpr index_t lane_width(index_t r) {
  return lane_groups(r) * lane_reals<T>;
}

/// Numbers (rank 1) are used as they are: real and imaginary part are neighbours.
template <class R, class T>
LaneRows<R> as_numbers(const View<T, 1>& v) {
  return {reinterpret_cast<R*>(v.data()),
          v.stride(0) * (is_complex_v<std::remove_const_t<T>> ? 2 : 1), 0};
}

/// Reads generators of rank 1 (count), 2 (count, r) or 3 (count, r, r).
template <Scalar T, int Rank>
class LanePack {
 public:
  using R = real_t<T>;

  /// Rows before `skip` are not read.
  LaneRows<const R> load(const View<const T, Rank>& v, index_t skip) {
    if constexpr (Rank == 1) {
      return as_numbers<const R>(v);
    } else {
      if constexpr (RealScalar<T>) {
        if (whole_lanes(v)) return {v.data(), v.stride(0), v.stride(Rank - 2)};
      }
      const index_t width = lane_width<T>(v.extent(Rank - 1));
      const index_t step = Rank == 3 ? v.extent(1) * width : width;
      reserve(memory_, v.extent(0) * step);
      for (index_t i = skip; i < v.extent(0); ++i) {
        R* to = memory_.data() + i * step;
        if constexpr (Rank == 2) {
          pack_lanes<T>(v.select(0, i), to);
        } else {
          for (index_t l = 0; l < v.extent(1); ++l) {
            pack_lanes<T>(v.select(0, i).select(0, l), to + l * width);
          }
        }
      }
      return {memory_.data(), step, width};
    }
  }

 private:
  Array<R, 1> memory_;
};

/// Collects cotangents of generators of these ranks: start(), add to what it returns, flush().
template <Scalar T, int Rank>
class LaneSum {
 public:
  using R = real_t<T>;

  /// bar may be empty: then all rows are added up in one place that nobody reads.
  LaneRows<R> start(const View<T, Rank>& bar, index_t order, index_t count) {
    const index_t width = Rank == 1 ? 2 : lane_width<T>(order);
    const index_t step = Rank == 3 ? order * width : width;
    if (!bar.data()) {
      reserve(memory_, step);
      return {memory_.data(), 0, width};
    }
    if constexpr (Rank == 1) {
      return as_numbers<R>(bar);
    } else {
      if constexpr (RealScalar<T>) {
        if (whole_lanes(bar)) return {bar.data(), bar.stride(0), bar.stride(Rank - 2)};
      }
      reserve(memory_, count * step);
      std::fill_n(memory_.data(), count * step, R{0});
      return {memory_.data(), step, width};
    }
  }

  /// Adds to bar what was not added in place; rows before `skip` are not touched.
  void flush(const View<T, Rank>& bar, index_t skip) const {
    if constexpr (Rank > 1) {
      if (!bar.data() || whole_lanes(bar)) return;
      const index_t width = lane_width<T>(bar.extent(Rank - 1));
      const index_t step = Rank == 3 ? bar.extent(1) * width : width;
      for (index_t i = skip; i < bar.extent(0); ++i) {
        const R* from = memory_.data() + i * step;
        if constexpr (Rank == 2) {
          add_lanes<T>(from, bar.select(0, i));
        } else {
          for (index_t l = 0; l < bar.extent(1); ++l) {
            add_lanes<T>(from + l * width, bar.select(0, i).select(0, l));
          }
        }
      }
    }
  }

 private:
  Array<R, 1> memory_;
};

}  // namespace structmat::recurrence
