/// \file
/// Displacement generators over a field: the identities that arithmetic with structured matrices
/// rests on.
///
///   A M - M B = G H^T
///
/// | operation | operators    | generators                                              |
/// |-----------|--------------|---------------------------------------------------------|
/// | sum       | A, B of both | [G_X, G_Y], [H_X, H_Y]                                  |
/// | transpose | B^T, A^T     | -H, G                                                   |
/// | product   | A_X, B_Y     | [G_X, X G_Y, X U], [Y^T H_X, H_Y, Y^T V], U V^T = B_X - A_Y |
/// | inverse   | B, A         | -X^-1 G, X^-T H                                         |
/// | transform | P^-1 A P, Q^-1 B Q | P^-1 G, Q^T H, of P^-1 M Q                        |
///
/// and matrices from generators: toeplitz_like, vandermonde_like.
///
/// Source: Pan, "Structured Matrices and Polynomials" (2001), ch. 1 and 4.
#pragma once

#include "structmat/exact/displacement.hpp"

namespace structmat::exact {

/// A matrix with its generators.
template <Field F>
struct Displaced {
  Matrix<F> m, a, b, g, h;

  index_t order() const { return g.cols(); }
  /// A M - M B = G H^T?
  bool consistent() const {
    return displaced(Displacement::sylvester, a, m, b) == g * h.transposed();
  }
};

/// A factorisation M = U V^T with as many columns as the rank.
template <Field F>
struct RankFactors {
  Matrix<F> u, v;
};
template <Field F>
RankFactors<F> rank_factors(const Matrix<F>& m) {
  const Echelon<F> e = echelon(m);
  Matrix<F> u(m.field(), m.rows(), e.rank());
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t k = 0; k < e.rank(); ++k) u(i, k) = m(i, e.columns[k]);
  }
  return {std::move(u), e.reduced.transposed()};
}

/// Generators of the least order of a matrix. Throws ShapeError.
template <Field F>
Displaced<F> displacement_generators(Matrix<F> a, Matrix<F> m, Matrix<F> b) {
  RankFactors<F> f = rank_factors(displaced(Displacement::sylvester, a, m, b));
  return {std::move(m), std::move(a), std::move(b), std::move(f.u), std::move(f.v)};
}

/// X + Y. Throws DomainError when the operators differ, ShapeError.
template <Field F>
Displaced<F> sum(const Displaced<F>& x, const Displaced<F>& y) {
  if (!(x.a == y.a) || !(x.b == y.b)) {
    throw DomainError("exact::sum: the displacement operators of both matrices differ");
  }
  return {x.m + y.m, x.a, x.b, beside(x.g, y.g), beside(x.h, y.h)};
}

/// X^T.
template <Field F>
Displaced<F> transpose(const Displaced<F>& x) {
  return {x.m.transposed(), x.b.transposed(), x.a.transposed(),
          Matrix<F>(x.m.field(), x.h.rows(), x.h.cols()) - x.h, x.g};
}

/// X Y, of order r_X + r_Y + rank (B_X - A_Y). Throws ShapeError.
template <Field F>
Displaced<F> product(const Displaced<F>& x, const Displaced<F>& y) {
  const RankFactors<F> middle = rank_factors(x.b - y.a);
  return {x.m * y.m, x.a, y.b, beside(beside(x.g, x.m * y.g), x.m * middle.u),
          beside(beside(y.m.transposed() * x.h, y.h), y.m.transposed() * middle.v)};
}

/// X^-1, or nothing when X is singular. Throws ShapeError when X is not square.
template <Field F>
std::optional<Displaced<F>> inverse(const Displaced<F>& x) {
  const std::optional<Matrix<F>> i = inverse(x.m);
  if (!i) return std::nullopt;
  const Matrix<F> zero(x.m.field(), x.g.rows(), x.g.cols());
  return Displaced<F>{*i, x.b, x.a, zero - *i * x.g, i->transposed() * x.h};
}

/// P^-1 M Q for invertible P and Q, or nothing when one is singular. Throws ShapeError.
template <Field F>
std::optional<Displaced<F>> transformed(const Matrix<F>& p, const Displaced<F>& x,
                                        const Matrix<F>& q) {
  const auto p_inverse = inverse(p), q_inverse = inverse(q);
  if (!p_inverse || !q_inverse) return std::nullopt;
  return Displaced<F>{*p_inverse * x.m * q, *p_inverse * x.a * p, *q_inverse * x.b * q,
                      *p_inverse * x.g, q.transposed() * x.h};
}

/// Z_f(v) = sum_k v_k Z_f^k, the f-circulant matrix with first column v.
template <Field F>
Matrix<F> corner_circulant(const Matrix<F>& v, const typename F::Element& f) {
  const index_t n = v.rows();
  Matrix<F> z(v.field(), n, n);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      z(i, j) = i >= j ? v(i - j, 0) : v.field().multiply(f, v(n + i - j, 0));
    }
  }
  return z;
}

/// V_ij = x_i^j, j < n.
template <Field F>
Matrix<F> vandermonde_matrix(const F& field, const std::vector<typename F::Element>& x, index_t n) {
  Matrix<F> v(field, static_cast<index_t>(x.size()), n);
  for (index_t i = 0; i < v.rows(); ++i) {
    auto power = field.from_integer(1);
    for (index_t j = 0; j < n; ++j) {
      v(i, j) = power;
      power = field.multiply(power, x[i]);
    }
  }
  return v;
}

namespace detail {
/// Rows in the opposite order.
template <Field F>
Matrix<F> reversed(const Matrix<F>& m) {
  Matrix<F> r(m.field(), m.rows(), m.cols());
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = 0; j < m.cols(); ++j) r(i, j) = m(m.rows() - 1 - i, j);
  }
  return r;
}
template <Field F>
Matrix<F> power(const Matrix<F>& m, index_t exponent) {
  Matrix<F> p = Matrix<F>::identity(m.field(), m.rows());
  for (index_t l = 0; l < exponent; ++l) p = p * m;
  return p;
}
}  // namespace detail

/// The matrix X with Z_e X - X Z_f = G H^T: sum_j Z_e(g'_j) R Z_f(J h_j), g' = (Z_e^n - f)^-1 g, where R
/// reduces polynomials of degree below n modulo z^m - e; nothing where some m-th root of e is an n-th
/// root of f. Throws ShapeError.
template <Field F>
std::optional<Matrix<F>> toeplitz_like(const Matrix<F>& g, const Matrix<F>& h,
                                       const typename F::Element& e, const typename F::Element& f) {
  const F field = g.field();
  const index_t m = g.rows(), n = h.rows();
  const Matrix<F> left = down_shift(field, m, e);
  Matrix<F> gap = detail::power(left, n);
  for (index_t i = 0; i < m; ++i) gap(i, i) = field.subtract(gap(i, i), f);
  const auto divisor = inverse(gap);
  if (!divisor) return std::nullopt;
  Matrix<F> reduction(field, m, n);
  auto power = field.from_integer(1);
  for (index_t k = 0; m > 0 && k < n; ++k) {
    if (k > 0 && k % m == 0) power = field.multiply(power, e);
    reduction(k % m, k) = power;
  }
  const Matrix<F> divided = *divisor * g, reversed_h = detail::reversed(h);
  Matrix<F> x(field, m, n);
  for (index_t j = 0; j < g.cols(); ++j) {
    x = x + corner_circulant(divided.block(0, m, j, j + 1), e) * reduction *
                corner_circulant(reversed_h.block(0, n, j, j + 1), f);
  }
  return x;
}

/// The matrix X with D_x X - X Z_f = G H^T: diag(1 / (x^n - f)) sum_j diag(g_j) V(x) Z_f(J h_j); nothing
/// where a node is an n-th root of f. Throws ShapeError.
template <Field F>
std::optional<Matrix<F>> vandermonde_like(const std::vector<typename F::Element>& x,
                                          const Matrix<F>& g, const Matrix<F>& h,
                                          const typename F::Element& f) {
  const F field = g.field();
  const index_t m = g.rows(), n = h.rows();
  const Matrix<F> v = vandermonde_matrix(field, x, n + 1), reversed_h = detail::reversed(h);
  Matrix<F> sum(field, m, n);
  for (index_t j = 0; j < g.cols(); ++j) {
    const Matrix<F> term =
        v.block(0, m, 0, n) * corner_circulant(reversed_h.block(0, n, j, j + 1), f);
    for (index_t i = 0; i < m; ++i) {
      for (index_t k = 0; k < n; ++k) {
        sum(i, k) = field.add(sum(i, k), field.multiply(g(i, j), term(i, k)));
      }
    }
  }
  for (index_t i = 0; i < m; ++i) {
    const auto gap = field.subtract(v(i, n), f);
    if (field.weight(gap) == 0) return std::nullopt;
    for (index_t k = 0; k < n; ++k) sum(i, k) = field.multiply(sum(i, k), field.invert(gap));
  }
  return sum;
}

}  // namespace structmat::exact
