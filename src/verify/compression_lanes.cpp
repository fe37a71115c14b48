#include "verify/compression_lanes.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "structmat/core/export.hpp"

namespace structmat::verify {
namespace {

using simd::Lanes;
using simd::plus_conjugate;
using simd::square;
using simd::times;
using simd::Vector;

/// sum - a b
template <class R, int W>
STRUCTMAT_INLINE Lanes<R, W> minus(const Lanes<R, W>& sum, const Lanes<R, W>& a,
                                   const Lanes<R, W>& b) {
  return {sum.v - a.v * b.v};
}
template <class R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> minus(const Lanes<std::complex<R>, W>& sum,
                                                 const Lanes<std::complex<R>, W>& a,
                                                 const Lanes<std::complex<R>, W>& b) {
  return {sum.re - a.re * b.re + a.im * b.im, sum.im - a.re * b.im - a.im * b.re};
}

template <class R, int W>
STRUCTMAT_INLINE Lanes<R, W> negated(const Lanes<R, W>& a) {
  return {-a.v};
}
template <class R, int W>
STRUCTMAT_INLINE Lanes<std::complex<R>, W> negated(const Lanes<std::complex<R>, W>& a) {
  return {-a.re, -a.im};
}

template <Scalar T>
class Column {
 public:
  using R = real_t<T>;
  static constexpr int W = lane_count<T>;
  using L = Lanes<T, W>;
  using V = Vector<R, W>;

  STRUCTMAT_INLINE explicit Column(R* data) : data_(data) {}
  STRUCTMAT_INLINE L operator[](index_t i) const { return L::load(data_ + i * L::reals); }
  STRUCTMAT_INLINE void set(index_t i, const L& v) const { v.store(data_ + i * L::reals); }

  STRUCTMAT_INLINE V squares(index_t first, index_t last) const {
    V sum{};
    for (index_t i = first; i < last; ++i) sum += square((*this)[i]);
    return sum;
  }

  /// x := (1 - w w^H) x, rows first to last. Four sums hide the latency of one.
  STRUCTMAT_INLINE void reflect(const Column& w, index_t first, index_t last) const {
    L sums[4] = {L::zero(), L::zero(), L::zero(), L::zero()};
    index_t i = first;
    for (; i + 4 <= last; i += 4) {
      for (int l = 0; l < 4; ++l) sums[l] = plus_conjugate(sums[l], w[i + l], (*this)[i + l]);
    }
    for (; i < last; ++i) sums[0] = plus_conjugate(sums[0], w[i], (*this)[i]);
    const L one = L::zero().plus(T{1}, sums[0]).plus(T{1}, sums[1]);
    const L dot = one.plus(T{1}, sums[2]).plus(T{1}, sums[3]);
    for (i = first; i < last; ++i) set(i, minus((*this)[i], w[i], dot));
  }

  /// Turns x into the w with which (1 - w w^H) x has nothing below row `first`; 0 where x is so
  /// small that its square is not accurate, far below rounding of M (whose scale is 1).
  STRUCTMAT_INLINE void make_reflector(index_t first, index_t last) const {
    const V norm_squares = squares(first, last);
    const L head = (*this)[first];
    const V head_squares = square(head);
    // w = (x + phase ||x|| e) / sqrt(||x||^2 + |x_first| ||x||), with |w|^2 = 2.
    constexpr R tiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    V grown{}, without_phase{}, scale{};
    for (int l = 0; l < W; ++l) {
      if (norm_squares[l] < tiny) continue;
      const R norm = std::sqrt(norm_squares[l]), size = std::sqrt(head_squares[l]);
      grown[l] = size > 0 ? 1 + norm / size : 0;
      without_phase[l] = size > 0 ? 0 : norm;
      scale[l] = 1 / std::sqrt(norm * (norm + size));
    }
    L new_head = times(grown, head);
    if constexpr (is_complex_v<T>) {
      new_head.re += without_phase;
    } else {
      new_head.v += without_phase;
    }
    set(first, new_head);
    for (index_t i = first; i < last; ++i) set(i, times(scale, (*this)[i]));
  }

 private:
  R* data_;
};

}  // namespace

template <Scalar T>
STRUCTMAT_CLONES void advance_lanes(index_t s, const StepRows<T>& rows, real_t<T>* m) {
  constexpr index_t reals = lane_reals<T>;
  using L = Lanes<T, lane_count<T>>;
  for (index_t j = 0; j < s; ++j) {
    const L x1 = L::load(rows.x1 + j * reals), g1 = L::load(rows.g1 + j * reals);
    const L minus_x1 = negated(x1);
    for (index_t i = 0; i < s; ++i) {
      real_t<T>* at = m + (j * s + i) * reals;
      const L sum = plus_conjugate(L::load(at), L::load(rows.g2 + i * reals), minus_x1);
      plus_conjugate(sum, L::load(rows.x2 + i * reals), g1).store(at);
    }
  }
}

template <Scalar T>
STRUCTMAT_CLONES void trailing_squares(index_t s, index_t steps, const real_t<T>* m,
                                       real_t<T>* work, real_t<T>* squares) {
  constexpr index_t reals = lane_reals<T>;
  typename Column<T>::V sum{};
  for (index_t j = 0; j < s; ++j) {
    // Column j is brought up to date only when its turn comes: it stays in the first-level cache
    // for that, and the reflectors are only read.
    real_t<T>* data = work + std::min(j, steps) * s * reals;
    std::copy_n(m + j * s * reals, s * reals, data);
    const Column<T> x(data);
    for (index_t c = 0; c < std::min(j, steps); ++c) {
      x.reflect(Column<T>(work + c * s * reals), c, s);
    }
    if (j < steps) {
      x.make_reflector(j, s);
    } else {
      sum += x.squares(steps, s);
    }
  }
  simd::store(squares, sum);
}

#define STRUCTMAT_INSTANTIATE(T)                                           \
  template void advance_lanes<T>(index_t, const StepRows<T>&, real_t<T>*); \
  template void trailing_squares<T>(index_t, index_t, const real_t<T>*, real_t<T>*, real_t<T>*);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
