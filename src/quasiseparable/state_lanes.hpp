/// \file
/// Generators as vectors of lanes along the states: how the factorisations read and write rows.
///
/// A state of order r is padded with zeros to whole vectors of W lanes, W = 1, 2, 4 or 8: one vector
/// up to order 8, blocks of 8 lanes above. A padded complex block is W real parts, then W imaginary
/// parts. A matrix over the states is its columns, one padded vector after the other.
#pragma once

#include <algorithm>

#include "core/simd.hpp"
#include "structmat/core/array.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat::quasiseparable {

/// Rows that are packed, or computed, at a time: few enough to stay in the first-level cache.
inline constexpr index_t chunk_rows = 64;

/// Rows of numbers, `step` numbers apart.
template <class R>
struct Run {
  R* data;
  index_t step;
  R* row(index_t i) const { return data + i * step; }
};

/// The padded form of states of one order.
template <Scalar T>
struct Layout {
  using R = real_t<T>;
  static constexpr index_t parts = is_complex_v<T> ? 2 : 1;

  explicit Layout(index_t states)
      : order(states),
        shift(states <= 1   ? 0
              : states <= 2 ? 1
              : states <= 4 ? 2
                            : 3),
        padded(std::max<index_t>(1, (states + width() - 1) >> shift) << shift) {}

  index_t order;
  int shift;  ///< of the width, a power of two
  index_t padded;

  index_t width() const { return index_t{1} << shift; }
  index_t vector() const { return parts * padded; }           ///< numbers of a padded vector
  index_t matrix() const { return padded * parts * padded; }  ///< numbers of a padded matrix
  /// Are rows of vectors whose numbers lie `stride` apart in padded form already?
  bool in_place(index_t stride) const {
    return RealScalar<T> && padded == order && (stride == 1 || order == 1);
  }

  T get(const R* v, index_t l) const {
    if constexpr (is_complex_v<T>) {
      const R* at = v + place(l);
      return {at[0], at[width()]};
    } else {
      return v[l];
    }
  }
  void set(R* v, index_t l, const T& value) const {
    if constexpr (is_complex_v<T>) {
      R* at = v + place(l);
      at[0] = value.real();
      at[width()] = value.imag();
    } else {
      v[l] = value;
    }
  }

 private:
  /// Of the real part of number l.
  index_t place(index_t l) const { return (l >> shift << (shift + 1)) + (l & (width() - 1)); }
};

/// Number l of a padded vector of blocks of W lanes.
template <Scalar T, int W>
STRUCTMAT_INLINE T lane(const real_t<T>* v, index_t l) {
  if constexpr (is_complex_v<T>) {
    const real_t<T>* at = v + l / W * 2 * W + l % W;
    return {at[0], at[W]};
  } else {
    return v[l];
  }
}

/// Calls kernel.operator()<W, one>(): W lanes a vector; `one`: a state is one vector.
template <Scalar T, class Kernel>
decltype(auto) with_width(const Layout<T>& layout, const Kernel& kernel) {
  switch (layout.padded) {
    case 1:
      return kernel.template operator()<1, true>();
    case 2:
      return kernel.template operator()<2, true>();
    case 4:
      return kernel.template operator()<4, true>();
    case 8:
      return kernel.template operator()<8, true>();
    default:
      return kernel.template operator()<8, false>();
  }
}

/// Transitions as vectors over the states (Scalar: one number, repeated) or as matrices.
template <transition::Uniform K, class E>
auto transitions_over_states(const View<E, K::rank - 1>& a, [[maybe_unused]] index_t order) {
  if constexpr (K::rank == 2) {
    return View<E, 2>(a.data(), {a.extent(0), order}, {a.stride(0), 0});
  } else {
    return a;
  }
}
/// Dimensions of that view.
template <transition::Uniform K>
inline constexpr int transition_dimensions = K::rank == 4 ? 3 : 2;

/// Rows at the ends of a sequence that are not part of the matrix. They read as zeros, which makes
/// the recurrences right there without a special case and keeps out whatever is stored in them.
struct Absent {
  bool first = false, last = false;
};

/// Rows of vectors (n, r) or matrices (n, r, r) in padded form. Real vectors of a padded order with
/// stride 1 are used where they are, all else is packed.
template <Scalar T, int Rank>
class PaddedRows {
 public:
  using R = real_t<T>;

  PaddedRows(const View<const T, Rank>& from, const Layout<T>& layout, Absent absent = {})
      : from_(from),
        layout_(layout),
        absent_(absent),
        step_(Rank == 2 ? layout.vector() : layout.matrix()),
        in_place_(Rank == 2 && layout.in_place(from.stride(1))),
        packed_({std::min(chunk_rows, from.extent(0)) * step_}) {}

  /// Rows begin <= i < end, at most chunk_rows of them, until the next call.
  Run<const R> rows(index_t begin, index_t end) {
    const index_t first = absent_.first && begin == 0 ? 1 : begin;
    const index_t last = absent_.last && end == from_.extent(0) ? end - 1 : end;
    if constexpr (RealScalar<T>) {
      if (in_place_ && first == begin && last == end) {
        return {from_.data() + begin * from_.stride(0), from_.stride(0)};
      }
    }
    if (first > begin) std::fill_n(packed_.data(), step_, R{});
    if (last < end) std::fill_n(packed_.data() + (last - begin) * step_, step_, R{});
    for (index_t i = first; i < last; ++i) pack(i, packed_.data() + (i - begin) * step_);
    return {packed_.data(), step_};
  }

 private:
  void pack(index_t i, R* to) const {
    if constexpr (Rank == 2) {
      for (index_t l = 0; l < layout_.order; ++l) layout_.set(to, l, from_(i, l));
    } else {
      for (index_t m = 0; m < layout_.order; ++m, to += layout_.vector()) {
        for (index_t l = 0; l < layout_.order; ++l) layout_.set(to, l, from_(i, l, m));
      }
    }
  }

  View<const T, Rank> from_;
  Layout<T> layout_;
  Absent absent_;
  index_t step_;
  bool in_place_;
  Array<R, 1> packed_;
};

/// Padded rows that a kernel sets or adds to, and their way into (n, r) or (n, r, r).
template <Scalar T, int Rank>
class ResultRows {
 public:
  using R = real_t<T>;

  /// to: may be empty, then nothing is passed on.
  ResultRows(const View<T, Rank>& to, index_t rows, const Layout<T>& layout)
      : to_(to),
        layout_(layout),
        step_(Rank == 2 ? layout.vector() : layout.matrix()),
        packed_({std::min(chunk_rows, rows) * step_}) {}

  Run<R> rows() { return {packed_.data(), step_}; }
  void clear() { std::fill(packed_.begin(), packed_.end(), R{}); }

  /// Rows begin <= i < end, of which begin is the first packed one.
  void set(index_t begin, index_t end) const {
    pass_on(begin, end, [](T& to, const T& value) STRUCTMAT_ALWAYS { to = value; });
  }
  void add(index_t begin, index_t end) const {
    pass_on(begin, end, [](T& to, const T& value) STRUCTMAT_ALWAYS { to += value; });
  }

 private:
  template <class Put>
  void pass_on(index_t begin, index_t end, const Put& put) const {
    if (to_.data() == nullptr) return;
    for (index_t i = begin; i < end; ++i) {
      const R* from = packed_.data() + (i - begin) * step_;
      if constexpr (Rank == 2) {
        T* const to = to_.data() + i * to_.stride(0);
        if (layout_.in_place(to_.stride(1))) {
          if constexpr (RealScalar<T>) {
#pragma omp simd
            for (index_t l = 0; l < layout_.order; ++l) put(to[l], from[l]);
          }
        } else {
          for (index_t l = 0; l < layout_.order; ++l) {
            put(to[l * to_.stride(1)], layout_.get(from, l));
          }
        }
      } else {
        for (index_t m = 0; m < layout_.order; ++m, from += layout_.vector()) {
          for (index_t l = 0; l < layout_.order; ++l) put(to_(i, l, m), layout_.get(from, l));
        }
      }
    }
  }

  View<T, Rank> to_;
  Layout<T> layout_;
  index_t step_;
  Array<R, 1> packed_;
};

/// The columns of a padded matrix over the states: in registers, where a column is one vector, or in
/// memory.
template <Scalar T, int W>
struct ColumnsInRegisters {
  using L = simd::Lanes<T, W>;
  L column[W];

  STRUCTMAT_INLINE explicit ColumnsInRegisters(real_t<T>* at) {
#pragma GCC unroll 8
    for (int l = 0; l < W; ++l) column[l] = L::load(at + l * L::reals);
  }
  STRUCTMAT_INLINE void keep(real_t<T>* at) const {
#pragma GCC unroll 8
    for (int l = 0; l < W; ++l) column[l].store(at + l * L::reals);
  }
  STRUCTMAT_INLINE L get(index_t l, index_t) const {
    return column[l];
  }
  STRUCTMAT_INLINE void set(index_t l, index_t, const L& x) {
    column[l] = x;
  }
};
template <Scalar T, int W>
struct ColumnsInMemory {
  using L = simd::Lanes<T, W>;
  real_t<T>* data;
  index_t step;

  STRUCTMAT_INLINE L get(index_t l, index_t b) const {
    return L::load(data + l * step + b * L::reals);
  }
  STRUCTMAT_INLINE void set(index_t l, index_t b, const L& x) {
    x.store(data + l * step + b * L::reals);
  }
};

/// Block b of sum_l column_l scalar(l), in up to four chains of additions.
template <Scalar T, int W, class Columns, class Coefficient>
STRUCTMAT_INLINE simd::Lanes<T, W> combine(const Columns& columns, index_t padded, index_t b,
                                           const Coefficient& scalar) {
  using L = simd::Lanes<T, W>;
  constexpr int chains = W < 4 ? W : 4;
  L part[chains];
  for (int c = 0; c < chains; ++c) part[c] = L::zero();
#pragma GCC unroll 2
  for (index_t l = 0; l < padded; l += chains) {
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c) part[c] = part[c].plus(scalar(l + c), columns.get(l + c, b));
  }
  if constexpr (chains == 4) {
    return simd::add(simd::add(part[0], part[1]), simd::add(part[2], part[3]));
  } else if constexpr (chains == 2) {
    return simd::add(part[0], part[1]);
  } else {
    return part[0];
  }
}

}  // namespace structmat::quasiseparable
