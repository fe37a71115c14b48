/// \file
/// What every solver of a square matrix must satisfy, by the textbook: residuals of the dense matrix.
#pragma once

#include "support/battery.hpp"

namespace structmat::test {

/// ||b - op(M) x|| / (||M||_F ||x|| + ||b||) by the dense matrix in double precision; the largest over
/// columns and batch, infinite where it is not a number.
template <class M, class T = typename M::value_type>
double backward_error(const M& m, Op op, const Array<T, 3>& b, const Array<T, 3>& x) {
  using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
  const Oracle<M> oracle(m);
  double worst = 0;
  for (index_t e = 0; e < x.extent(0); ++e) {
    const index_t mb = oracle.dense.extent(0) == 1 ? 0 : e, bb = b.extent(0) == 1 ? 0 : e;
    for (index_t c = 0; c < x.extent(2); ++c) {
      double left = 0, of_x = 0, of_b = 0;
      for (index_t i = 0; i < x.extent(1); ++i) {
        Wide sum = b(bb, i, c);
        of_b += std::norm(sum);
        of_x += std::norm(Wide(x(e, i, c)));
        for (index_t j = 0; j < x.extent(1); ++j) {
          sum -= Wide(op_entry(op, oracle.dense.view(), mb, i, j)) * Wide(x(e, j, c));
        }
        left += std::norm(sum);
      }
      if (left == 0) continue;
      const double error = std::sqrt(left) / (oracle.norm(mb) * std::sqrt(of_x) + std::sqrt(of_b));
      worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
  }
  return worst;
}

/// All operations, several right-hand sides, one b for all matrices, operands with strides.
/// solve(op, b, x) takes Views.
template <class M, class Solve>
void check_solutions(const M& m, double tolerance, Random& random, const Solve& solve) {
  using T = typename M::value_type;
  const index_t n = m.rows();
  for (const Op op : all_ops) {
    INFO("op " << int(op) << ", n " << n << ", batch " << m.batch());
    for (const index_t k : {0, 1, 3}) {
      const auto b = random.array<T, 3>({m.batch(), n, k});
      auto x = poisoned<T, 3>(b.extents());
      solve(op, View<const T, 3>(b.view()), x.view());
      CHECK(backward_error(m, op, b, x) <= tolerance);
    }
    const auto shared = random.array<T, 3>({1, n, 2});
    auto x = poisoned<T, 3>({m.batch(), n, 2});
    solve(op, View<const T, 3>(shared.view()), x.view());
    CHECK(backward_error(m, op, shared, x) <= tolerance);

    Array<T, 3> b_store({m.batch(), 2 * n + 1, 5}), x_store({m.batch(), 3 * n + 1, 7});
    random.fill(b_store);
    const View<const T, 3> bs(b_store.data() + 1, {m.batch(), n, 2}, {(2 * n + 1) * 5, 2 * 5, 2});
    const View<T, 3> xs =
        View<T, 3>(x_store.data() + 2, {m.batch(), n, 2}, {(3 * n + 1) * 7, 3 * 7, 3}).reversed(1);
    solve(op, bs.reversed(1), xs);
    CHECK(backward_error(m, op, to_array(bs.reversed(1)), to_array(xs)) <= tolerance);
  }
}

/// det of a dense matrix by Gaussian elimination with partial pivoting in long double.
template <class T>
std::complex<long double> textbook_determinant(const Array<T, 3>& dense, index_t batch = 0) {
  using C = std::complex<long double>;
  const index_t n = dense.extent(1);
  Array<C, 2> a({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j)
      a(i, j) = C(std::real(dense(batch, i, j)), std::imag(dense(batch, i, j)));
  }
  C det = 1;
  for (index_t k = 0; k < n; ++k) {
    index_t p = k;
    for (index_t i = k; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(p, k))) p = i;
    }
    if (p != k) {
      det = -det;
      for (index_t j = 0; j < n; ++j) std::swap(a(k, j), a(p, j));
    }
    det *= a(k, k);
    if (a(k, k) == C{}) return 0;
    for (index_t i = k + 1; i < n; ++i) {
      const C l = a(i, k) / a(k, k);
      for (index_t j = k; j < n; ++j) a(i, j) -= l * a(k, j);
    }
  }
  return det;
}

/// |exp(log_abs) sign / det - 1|
template <class T>
double determinant_error(const LogDeterminant<T>& d, const std::complex<long double>& det) {
  const std::complex<long double> got =
      std::exp(static_cast<long double>(d.log_abs)) *
      std::complex<long double>(std::real(d.sign), std::imag(d.sign));
  return double(std::abs(got - det) / std::abs(det));
}

}  // namespace structmat::test
