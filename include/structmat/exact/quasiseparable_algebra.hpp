/// \file
/// More operations on exact generators: differences, scaling, entry-by-entry products, principal
/// submatrices and borders. Orders of the result, before `minimal`:
///
/// | operation           | result                   | states                       |
/// |---------------------|--------------------------|------------------------------|
/// | subtract            | X - Y                    | those of X and of Y          |
/// | scale               | alpha M                  | those of M                   |
/// | scale_diagonally    | diag(l) M diag(r)        | those of M                   |
/// | hadamard            | X_ij Y_ij                | Kronecker products of both   |
/// | principal_submatrix | M_ij for i, j of a set   | those of M at the set        |
/// | bordered            | [M C; R D], k rows more  | those of M, and k            |
#pragma once

#include "structmat/exact/quasiseparable.hpp"

namespace structmat::exact {

namespace detail {

/// alpha x, entry by entry.
template <Field F>
Matrix<F> scaled(const typename F::Element& alpha, Matrix<F> x) {
  for (index_t i = 0; i < x.rows(); ++i) {
    for (index_t j = 0; j < x.cols(); ++j) x(i, j) = x.field().multiply(alpha, x(i, j));
  }
  return x;
}

/// Row i times rows[i], column j times cols[j].
template <Field F>
Triangle<F> scaled(const std::vector<typename F::Element>& rows, Triangle<F> t,
                   const std::vector<typename F::Element>& cols) {
  for (index_t k = 0; k < t.size(); ++k) {
    t.p[k] = scaled(rows[k], std::move(t.p[k]));
    t.q[k] = scaled(cols[k], std::move(t.q[k]));
  }
  return t;
}

template <Field F>
Triangle<F> hadamard(const Triangle<F>& x, const Triangle<F>& y) {
  Triangle<F> product;
  for (index_t k = 0; k < x.size(); ++k) {
    product.p.push_back(kronecker(x.p[k], y.p[k]));
    product.a.push_back(kronecker(x.a[k], y.a[k]));
    product.q.push_back(kronecker(x.q[k], y.q[k]));
  }
  return product;
}

/// Takes away the states in front of the first index and behind the last one.
template <Field F>
void close_ends(const F& field, Triangle<F>& t) {
  if (t.size() == 0) return;
  t.p.front() = Matrix<F>(field, 1, 0);
  t.a.front() = Matrix<F>(field, t.a.front().rows(), 0);
  t.q.back() = Matrix<F>(field, 0, 1);
  t.a.back() = Matrix<F>(field, 0, t.a.back().cols());
}

template <Field F>
Triangle<F> restricted(const F& field, const Triangle<F>& t, const std::vector<index_t>& indices) {
  Triangle<F> part;
  for (std::size_t s = 0; s < indices.size(); ++s) {
    const index_t i = indices[s];
    Matrix<F> between = Matrix<F>::identity(field, t.a[i].cols());
    for (index_t k = i; s > 0 && --k > indices[s - 1];) between = between * t.a[k];
    part.p.push_back(t.p[i] * between);
    part.a.push_back(t.a[i] * between);
    part.q.push_back(t.q[i]);
  }
  close_ends(field, part);
  return part;
}

/// The strictly lower triangle of [T 0; rows corner].
template <Field F>
Triangle<F> bordered(const Triangle<F>& t, const Matrix<F>& rows, const Matrix<F>& corner) {
  const index_t n = t.size(), k = corner.rows();
  const auto one = Matrix<F>::identity(corner.field(), k);
  Triangle<F> all;
  for (index_t i = 0; i < n; ++i) {
    const auto& old = t.a[i];
    Matrix<F> a(corner.field(), old.rows() + k, old.cols() + k);
    a.set_block(0, 0, old);
    a.set_block(old.rows(), old.cols(), one);
    all.a.push_back(std::move(a));
    all.p.push_back(beside(t.p[i], Matrix<F>(corner.field(), 1, k)));
    all.q.push_back(stacked(t.q[i], rows.block(0, k, i, i + 1)));
  }
  for (index_t s = 0; s < k; ++s) {
    all.p.push_back(one.block(s, s + 1, 0, k));
    all.a.push_back(one);
    all.q.push_back(corner.block(0, k, s, s + 1));
  }
  close_ends(corner.field(), all);
  return all;
}

template <Field F>
void require_factors(const char* place, const std::vector<typename F::Element>& factors,
                     index_t n) {
  if (static_cast<index_t>(factors.size()) == n) return;
  throw ShapeError(std::string("exact::scale_diagonally: there are ") +
                   std::to_string(factors.size()) + " factors of " + place +
                   ", the matrix is of size " + std::to_string(n));
}

}  // namespace detail

/// diag(left) M diag(right). O(n s) operations. Throws ShapeError.
template <Field F>
Quasiseparable<F> scale_diagonally(const std::vector<typename F::Element>& left,
                                   const Quasiseparable<F>& m,
                                   const std::vector<typename F::Element>& right) {
  detail::require_consistent("exact::scale_diagonally", m);
  detail::require_factors<F>("rows", left, m.size());
  detail::require_factors<F>("columns", right, m.size());
  Quasiseparable<F> result{m.field, detail::scaled(left, m.lower, right),
                           detail::scaled(right, m.upper_transposed, left), m.diagonal};
  for (index_t i = 0; i < m.size(); ++i) {
    result.diagonal[i] = m.field.multiply(m.field.multiply(left[i], m.diagonal[i]), right[i]);
  }
  return result;
}

/// alpha M. O(n s) operations. Throws ShapeError.
template <Field F>
Quasiseparable<F> scale(const typename F::Element& alpha, const Quasiseparable<F>& m) {
  const std::vector<typename F::Element> ones(m.diagonal.size(), m.field.from_integer(1)),
      factors(m.diagonal.size(), alpha);
  return scale_diagonally(factors, m, ones);
}

/// X - Y; the states are those of X and Y side by side. O(n s^2) operations. Throws ShapeError.
template <Field F>
Quasiseparable<F> subtract(const Quasiseparable<F>& x, const Quasiseparable<F>& y) {
  detail::require_same("exact::subtract", x, y);
  return add(x, scale(x.field.from_integer(-1), y));
}

/// X_ij Y_ij; the sizes of the states multiply. O(n s^4) operations. Throws ShapeError.
template <Field F>
Quasiseparable<F> hadamard(const Quasiseparable<F>& x, const Quasiseparable<F>& y) {
  detail::require_same("exact::hadamard", x, y);
  Quasiseparable<F> product{x.field, detail::hadamard(x.lower, y.lower),
                            detail::hadamard(x.upper_transposed, y.upper_transposed), x.diagonal};
  for (index_t i = 0; i < x.size(); ++i) {
    product.diagonal[i] = x.field.multiply(x.diagonal[i], y.diagonal[i]);
  }
  return product;
}

/// Rows and columns i_0 < i_1 < ... of M; transitions in between are multiplied. O(n s^3)
/// operations. Throws ShapeError; DomainError (indices out of order or range).
template <Field F>
Quasiseparable<F> principal_submatrix(const Quasiseparable<F>& m,
                                      const std::vector<index_t>& indices) {
  constexpr auto operation = "exact::principal_submatrix";
  detail::require_consistent(operation, m);
  index_t least = 0;
  Quasiseparable<F> part{m.field, {}, {}, {}};
  for (const index_t i : indices) {
    if (i < least || i >= m.size()) {
      throw DomainError(std::string(operation) + ": index " + std::to_string(i) +
                        " is out of order, or the matrix of size " + std::to_string(m.size()) +
                        " does not have it");
    }
    least = i + 1;
    part.diagonal.push_back(m.diagonal[i]);
  }
  part.lower = detail::restricted(m.field, m.lower, indices);
  part.upper_transposed = detail::restricted(m.field, m.upper_transposed, indices);
  return part;
}

/// [M C; R D] with C = columns (n x k), R = rows (k x n), D = corner (k x k): orders up by k. O(n (s +
/// k)^2) operations. Throws ShapeError.
template <Field F>
Quasiseparable<F> bordered(const Quasiseparable<F>& m, const Matrix<F>& columns,
                           const Matrix<F>& rows, const Matrix<F>& corner) {
  constexpr auto operation = "exact::bordered";
  detail::require_consistent(operation, m);
  detail::require_square(operation, corner);
  const index_t n = m.size(), k = corner.rows();
  if (columns.rows() != n || columns.cols() != k || rows.rows() != k || rows.cols() != n) {
    const auto shape = [](const Matrix<F>& x) {
      return std::to_string(x.rows()) + " x " + std::to_string(x.cols());
    };
    throw ShapeError(std::string(operation) + ": C is " + shape(columns) + ", R is " + shape(rows) +
                     ", M is of size " + std::to_string(n) + ", D of size " + std::to_string(k));
  }
  Quasiseparable<F> all{
      m.field, detail::bordered(m.lower, rows, corner),
      detail::bordered(m.upper_transposed, columns.transposed(), corner.transposed()), m.diagonal};
  for (index_t s = 0; s < k; ++s) all.diagonal.push_back(corner(s, s));
  return all;
}

}  // namespace structmat::exact
