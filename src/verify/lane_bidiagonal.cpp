#include "verify/lane_bidiagonal.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/simd.hpp"

namespace structmat::verify {
namespace {

using simd::add;
using simd::Lanes;
using simd::plus_conjugate;
using simd::plus_product;

template <Scalar T>
inline constexpr int width = LaneBidiagonal<T>::lanes;
/// Real vectors that stand for one number in every lane.
template <Scalar T>
inline constexpr int parts = is_complex_v<T> ? 2 : 1;

/// The reflection I - factor v v^H that maps a vector x of `length` numbers, `step` apart, to a
/// multiple of e_1. Writes v, all numbers of it contiguous (a row is conjugated), -factor, and
/// |x|^2.
template <class T>
STRUCTMAT_INLINE void reflector(index_t length, const real_t<T>* x, index_t step, real_t<T>* v,
                                real_t<T>* minus_factor, real_t<T>* squares) {
  using R = real_t<T>;
  constexpr int W = width<T>;
  constexpr index_t number = W * parts<T>;
  constexpr R tiny = std::numeric_limits<R>::min() * 1024;
  Lanes<R, W> tail = Lanes<R, W>::zero();
  for (index_t i = 1; i < length; ++i) {
    const auto value = Lanes<T, W>::load(x + i * step);
    tail.v += simd::square(value);
    value.store(v + i * number);
  }
  alignas(64) R below[W];
  tail.store(below);
#pragma omp simd
  for (int lane = 0; lane < W; ++lane) {
    const R re = x[lane];
    R im = 0;
    if constexpr (parts<T> == 2) im = x[W + lane];
    const R size = std::sqrt(re * re + im * im);
    const R all = below[lane] + size * size;
    const R norm = std::sqrt(all);
    const R inverse = size > 0 ? 1 / size : R{0};
    const R half = norm * (norm + size);
    squares[lane] = all;
    v[lane] = re + (size > 0 ? re * inverse : R{1}) * norm;
    if constexpr (parts<T> == 2) v[W + lane] = im + im * inverse * norm;
    // Nothing to reflect, or so little beside entries of size 1 that its square underflows.
    minus_factor[lane] = below[lane] > 0 && half > tiny ? -1 / half : R{0};
  }
}

/// squares: d_0^2, e_0^2, d_1^2, ..., one vector each. v, w: rows + columns numbers each.
template <class T>
STRUCTMAT_CLONES void bidiagonalise(index_t rows, index_t columns, real_t<T>* x, real_t<T>* v,
                                    real_t<T>* w, real_t<T>* squares) {
  using R = real_t<T>;
  constexpr int W = width<T>;
  constexpr index_t step = W * parts<T>;
  using L = Lanes<T, W>;
  const index_t row = columns * step;
  alignas(64) R minus[W];
  for (index_t j = 0; j < columns; ++j) {
    // From the left: column j. w = -factor v^H X, X += v w.
    reflector<T>(rows - j, x + j * row + j * step, row, v, minus, squares + 2 * j * W);
    if (j + 1 == columns) break;
    const auto left = simd::load<simd::Vector<R, W>>(minus);
    for (index_t k = j + 1; k < columns; ++k) L::zero().store(w + k * step);
    for (index_t i = j; i < rows; ++i) {
      const L vi = L::load(v + (i - j) * step);
      for (index_t k = j + 1; k < columns; ++k) {
        plus_conjugate(L::load(w + k * step), vi, L::load(x + i * row + k * step))
            .store(w + k * step);
      }
    }
    for (index_t k = j + 1; k < columns; ++k) {
      simd::times(left, L::load(w + k * step)).store(w + k * step);
    }
    for (index_t i = j; i < rows; ++i) {
      const L vi = L::load(v + (i - j) * step);
      for (index_t k = j + 1; k < columns; ++k) {
        R* at = x + i * row + k * step;
        plus_product(L::load(at), vi, L::load(w + k * step)).store(at);
      }
    }
    // From the right: what is left of row j. With v of the plain row, X := X (I - factor conj(v)
    // v^T).
    const index_t first = j + 1, length = columns - first;
    reflector<T>(length, x + j * row + first * step, step, v, minus, squares + (2 * j + 1) * W);
    const auto right = simd::load<simd::Vector<R, W>>(minus);
    for (index_t i = first; i < rows; ++i) {
      R* at = x + i * row + first * step;
      L even = L::zero(), odd = L::zero();
      index_t k = 0;
      for (; k + 2 <= length; k += 2) {
        even = plus_conjugate(even, L::load(v + k * step), L::load(at + k * step));
        odd = plus_conjugate(odd, L::load(v + (k + 1) * step), L::load(at + (k + 1) * step));
      }
      if (k < length) even = plus_conjugate(even, L::load(v + k * step), L::load(at + k * step));
      const L factor = simd::times(right, add(even, odd));
      for (k = 0; k < length; ++k) {
        plus_product(L::load(at + k * step), factor, L::load(v + k * step)).store(at + k * step);
      }
    }
  }
}

/// Negative pivots of the Golub-Kahan matrix minus the threshold, number = 2 columns of them.
template <class R, int W>
STRUCTMAT_CLONES void negative_pivots(index_t number, const R* squares, const R* thresholds,
                                      int* counts) {
  constexpr R tiny = std::numeric_limits<R>::min() * 16;
  alignas(64) R pivot[W], negative[W];
#pragma omp simd
  for (int lane = 0; lane < W; ++lane) {
    pivot[lane] = -thresholds[lane];
    negative[lane] = 1;
  }
  for (index_t i = 0; i + 1 < number; ++i) {
#pragma omp simd
    for (int lane = 0; lane < W; ++lane) {
      const R next = -thresholds[lane] - squares[i * W + lane] / pivot[lane];
      const R safe = std::abs(next) < tiny ? -tiny : next;
      negative[lane] += safe < 0 ? R{1} : R{0};
      pivot[lane] = safe;
    }
  }
  for (int lane = 0; lane < W; ++lane) counts[lane] = static_cast<int>(negative[lane]);
}

}  // namespace

template <Scalar T>
LaneBidiagonal<T>::LaneBidiagonal(index_t rows, index_t columns)
    : rows_(rows),
      columns_(columns),
      x_({rows * columns * lanes * parts<T>}),
      work_({2 * (rows + columns) * lanes * parts<T>}),
      squares_({2 * columns * lanes}) {}

template <Scalar T>
index_t LaneBidiagonal<T>::set(int lane, const View<const T, 2>& x) {
  R largest = 0;
  for (index_t i = 0; i < rows_; ++i) {
    for (index_t k = 0; k < columns_; ++k) {
      const T v = x(i, k);
      largest = std::max(largest, std::max(std::abs(std::real(v)), std::abs(std::imag(v))));
    }
  }
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  // Two factors, since the inverse of a subnormal number overflows.
  const R half = std::ldexp(R{1}, -exponent / 2), rest = std::ldexp(R{1}, -exponent + exponent / 2);
  R* to = x_.data() + lane;
  for (index_t i = 0; i < rows_; ++i) {
    for (index_t k = 0; k < columns_; ++k, to += lanes * parts<T>) {
      const T v = x(i, k);
      to[0] = std::real(v) * half * rest;
      if constexpr (parts<T> == 2) to[lanes] = std::imag(v) * half * rest;
    }
  }
  return exponent;
}

template <Scalar T>
void LaneBidiagonal<T>::reduce() {
  R* v = work_.data();
  bidiagonalise<T>(rows_, columns_, x_.data(), v, v + (rows_ + columns_) * lanes * parts<T>,
                   squares_.data());
  for (int lane = 0; lane < lanes; ++lane) {
    R sum = 0;
    for (index_t i = 0; i + 1 < 2 * columns_; ++i) sum += squares_(i * lanes + lane);
    bound_[lane] = std::sqrt(sum) * (1 + 8 * epsilon<T>);
  }
  std::fill(x_.begin(), x_.end(), R{0});
}

template <Scalar T>
typename LaneBidiagonal<T>::Counts LaneBidiagonal<T>::count(const Reals& thresholds) const {
  Counts counts;
  const int number = static_cast<int>(2 * columns_);
  negative_pivots<R, lanes>(number, squares_.data(), thresholds.data(), counts.data());
  for (int& c : counts) c = number - c;
  return counts;
}

template <Scalar T>
typename LaneBidiagonal<T>::Reals LaneBidiagonal<T>::value(const Counts& l) const {
  Reals low{}, high = bound_, middle;
  for (int step = 0; step < std::numeric_limits<R>::digits + 2; ++step) {
    for (int lane = 0; lane < lanes; ++lane) {
      middle[lane] =
          std::max(low[lane] + (high[lane] - low[lane]) / 2, std::numeric_limits<R>::min());
    }
    const Counts counts = count(middle);
    for (int lane = 0; lane < lanes; ++lane) {
      (counts[lane] > l[lane] ? low : high)[lane] = middle[lane];
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (low[lane] > 0) low[lane] += (high[lane] - low[lane]) / 2;
  }
  return low;
}

#define STRUCTMAT_INSTANTIATE(T) template class LaneBidiagonal<T>;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
