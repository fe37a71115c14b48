#include "cauchy/chebyshev.hpp"

#include <algorithm>
#include <cmath>

#include "cauchy/direct_kernel.hpp"

namespace structmat::cauchy {
namespace {

using simd::Vector;

/// u of the lanes from point i on; beyond the last point, 0.
template <RealScalar R>
STRUCTMAT_INLINE Vector<R, lanes<R>> arguments(const ScaledPoints<R>& p, index_t i) {
  using V = Vector<R, lanes<R>>;
  if (i + lanes<R> <= p.count) {
    return (simd::load<V>(p.z + i) * p.scale + p.origin) * p.inverse_half - 1;
  }
  V u{};
  for (int lane = 0; i + lane < p.count; ++lane) {
    u[lane] = (p.z[i + lane] * p.scale + p.origin) * p.inverse_half - 1;
  }
  return u;
}

template <RealScalar R, int K>
STRUCTMAT_CLONES void add_moments_of(const ScaledPoints<R>& points, index_t order, const R* charges,
                                     index_t charge_step, R* moments) {
  constexpr int W = lanes<R>;
  using V = Vector<R, W>;
  V sums[Chebyshev<R>::max_order * K];
  for (index_t m = 0; m < order * K; ++m) sums[m] = V{};
  for (index_t i = 0; i < points.count; i += W) {
    const V u = arguments(points, i);
    V q[K];
    for (int c = 0; c < K; ++c) {
      q[c] = V{};
      const R* from = charges + c * charge_step + i;
      if (i + W <= points.count) {
        q[c] = simd::load<V>(from);
      } else {
        for (int lane = 0; i + lane < points.count; ++lane) q[c][lane] = from[lane];
      }
    }
    V previous = V{} + 1, current = u;
    for (int c = 0; c < K; ++c) sums[c] += q[c];
    for (index_t m = 1; m < order; ++m) {
      for (int c = 0; c < K; ++c) sums[m * K + c] += q[c] * current;
      const V next = 2 * u * current - previous;
      previous = current;
      current = next;
    }
  }
  for (index_t m = 0; m < order; ++m) {
    for (int c = 0; c < K; ++c) moments[c * order + m] += simd::sum<R, W>(sums[m * K + c]);
  }
}

template <RealScalar R, int K>
STRUCTMAT_CLONES void add_values_of(const ScaledPoints<R>& points, index_t order,
                                    const R* coefficients, R* sums, index_t sum_step) {
  constexpr int W = lanes<R>;
  using V = Vector<R, W>;
  for (index_t i = 0; i < points.count; i += W) {
    const V u = arguments(points, i), twice = 2 * u;
    V previous = V{} + 1, current = u, value[K];
    for (int c = 0; c < K; ++c) value[c] = V{} + coefficients[c * order];
    for (index_t m = 1; m < order; ++m) {
      for (int c = 0; c < K; ++c) value[c] += coefficients[c * order + m] * current;
      const V next = twice * current - previous;
      previous = current;
      current = next;
    }
    for (int c = 0; c < K; ++c) {
      R* at = sums + c * sum_step + i;
      simd::store(at, simd::load<V>(at) + value[c]);
    }
  }
}

/// to := from times the matrix, a row each.
template <RealScalar R, int K>
STRUCTMAT_CLONES void multiply(const R* matrix, index_t order, const R* from, R* to) {
  constexpr int W = lanes<R>;
  using V = Vector<R, W>;
  for (index_t l = 0; l < order; l += W) {
    V sums[K];
    for (V& v : sums) v = V{};
    for (index_t i = 0; i < order; ++i) {
      const V row = simd::load<V>(matrix + i * order + l);
      for (int c = 0; c < K; ++c) sums[c] += from[c * order + i] * row;
    }
    for (int c = 0; c < K; ++c) simd::store(to + c * order + l, sums[c]);
  }
}

/// f(number of columns known to the compiler)
template <class F>
void with_columns(index_t columns, const F& f) {
  if (columns == 1) return f(std::integral_constant<int, 1>{});
  if (columns == 2) return f(std::integral_constant<int, 2>{});
  f(std::integral_constant<int, 4>{});
}

}  // namespace

template <RealScalar R>
Chebyshev<R>::Chebyshev(index_t order)
    : points_({order}), from_moments_({order, order}), from_values_({order, order}) {
  for (index_t k = 0; k < order; ++k) {
    const double angle = M_PI * (static_cast<double>(k) + 0.5) / static_cast<double>(order);
    points_(k) = static_cast<R>(1 + std::cos(angle));
    for (index_t m = 0; m < order; ++m) {
      const double value =
          std::cos(static_cast<double>(m) * angle) * (m == 0 ? 1 : 2) / static_cast<double>(order);
      from_moments_(m, k) = from_values_(k, m) = static_cast<R>(value);
    }
  }
}

template <RealScalar R>
void Chebyshev<R>::add_moments(const ScaledPoints<R>& points, index_t columns, const R* charges,
                               index_t charge_step, R* moments) const {
  with_columns(columns, [&](auto k) {
    add_moments_of<R, k()>(points, order(), charges, charge_step, moments);
  });
}

template <RealScalar R>
void Chebyshev<R>::to_proxies(index_t columns, const R* moments, R* proxies) const {
  with_columns(columns,
               [&](auto k) { multiply<R, k()>(from_moments_.data(), order(), moments, proxies); });
}

template <RealScalar R>
void Chebyshev<R>::to_coefficients(index_t columns, const R* values, R* coefficients) const {
  with_columns(columns, [&](auto k) {
    multiply<R, k()>(from_values_.data(), order(), values, coefficients);
  });
}

template <RealScalar R>
void Chebyshev<R>::add_values(const ScaledPoints<R>& points, index_t columns, const R* coefficients,
                              R* sums, index_t sum_step) const {
  with_columns(columns, [&](auto k) {
    add_values_of<R, k()>(points, order(), coefficients, sums, sum_step);
  });
}

template class Chebyshev<float>;
template class Chebyshev<double>;

}  // namespace structmat::cauchy
