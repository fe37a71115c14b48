/// \file
/// Interpolation in Chebyshev points: sums of many charges become sums of a few proxies.
///
/// In u in [-1, 1], with the p zeros c_k of T_p, the interpolant of f is sum_k l_k(u) f(c_k), l_k(u) =
/// (1 + 2 sum_{m=1}^{p-1} T_m(c_k) T_m(u)) / p. For f(u) = 1 / (x - u) its relative error is exactly
/// T_p(u) / T_p(x), so for |x| >= (rho + 1 / rho) / 2 at most 2 rho^-p.
#pragma once

#include "structmat/core/array.hpp"

namespace structmat::cauchy {

/// Points origin + scale z_i, counted from the low end of the interval, which `inverse_half` maps to
/// length 2.
template <RealScalar R>
struct ScaledPoints {
  const R* z;
  index_t count;
  R origin, scale, inverse_half;
};

template <RealScalar R>
class Chebyshev {
 public:
  /// order: a multiple of lanes<R>, at most max_order.
  explicit Chebyshev(index_t order);

  static constexpr index_t max_order = 32;

  index_t order() const { return points_.extent(0); }
  /// 1 + c_k: counted from the low end.
  const R* points() const { return points_.data(); }

  // `columns` is 1, 2 or 4; a column of moments, proxies, values or coefficients is a row of `order`
  // numbers.

  /// moments_cm += sum_i T_m(u_i) charges_ci; columns of charges are charge_step apart.
  void add_moments(const ScaledPoints<R>& points, index_t columns, const R* charges,
                   index_t charge_step, R* moments) const;
  /// proxies := the charges sum_i l_k(u_i) charges_ci that have these moments.
  void to_proxies(index_t columns, const R* moments, R* proxies) const;
  /// coefficients := those of the interpolant of `values`.
  void to_coefficients(index_t columns, const R* values, R* coefficients) const;
  /// sums_ci += the interpolant at u_i; columns of sums are sum_step apart, and written in whole
  /// vectors.
  void add_values(const ScaledPoints<R>& points, index_t columns, const R* coefficients, R* sums,
                  index_t sum_step) const;

 private:
  Array<R, 1> points_;
  Array<R, 2> from_moments_, from_values_;  // T_m(c_k) (m = 0: 1, others: 2) / order; row m, row k
};

}  // namespace structmat::cauchy
