/// \file
/// Quasiseparable matrices over a field: generators whose state sizes follow the index, and an
/// arithmetic that is exact and assumes nothing of leading minors.
///
///   i > j:  M_ij = p_i a_{i-1} ... a_{j+1} q_j
///   i < j:  the same form in the strictly lower triangle of the transpose
///
/// State k belongs to the block H_k = M(k:n, 0:k), whose rank it bounds. Sums and products give
/// states whose sizes add up; `minimal` reduces each of them to the rank of its block.
///
/// Source: Eidelman, Gohberg, "On a new class of structured matrices", Integral Equations Operator
/// Theory 34 (1999); Dewilde, van der Veen, "Time-Varying Systems and Computations" (1998), ch. 3.
#pragma once

#include "structmat/exact/matrix.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::exact {

/// A strictly lower triangle in generator form. With state sizes s_0 = s_n = 0:
/// p_i: 1 x s_i, a_i: s_{i+1} x s_i, q_i: s_{i+1} x 1. Plain data: shapes are checked by the
/// operations.
template <Field F>
struct Triangle {
  std::vector<Matrix<F>> p, a, q;

  index_t size() const { return static_cast<index_t>(p.size()); }
  /// The largest state.
  index_t order() const {
    index_t largest = 0;
    for (const Matrix<F>& row : p) largest = std::max(largest, row.cols());
    return largest;
  }
};

/// Generators of an n x n matrix.
template <Field F>
struct Quasiseparable {
  F field;
  Triangle<F> lower, upper_transposed;
  std::vector<typename F::Element> diagonal;

  index_t size() const { return static_cast<index_t>(diagonal.size()); }
  /// The orders are those of the matrix if its states are minimal, else upper bounds of them.
  Order order() const { return {lower.order(), upper_transposed.order()}; }
};

namespace detail {

template <Field F>
void require_shape(const std::string& place, const char* letter, index_t k, const Matrix<F>& m,
                   index_t rows, index_t cols) {
  if (m.rows() == rows && m.cols() == cols) return;
  throw ShapeError(place + letter + "[" + std::to_string(k) + "] is " + std::to_string(m.rows()) +
                   " x " + std::to_string(m.cols()) + ", expected " + std::to_string(rows) + " x " +
                   std::to_string(cols));
}

template <Field F>
void require_consistent(const char* operation, const char* part, const Triangle<F>& t, index_t n) {
  const std::string place = std::string(operation) + ": " + part;
  for (const auto* list : {&t.p, &t.a, &t.q}) {
    if (static_cast<index_t>(list->size()) != n) {
      throw ShapeError(place + " has " + std::to_string(t.p.size()) + ", " +
                       std::to_string(t.a.size()) + ", " + std::to_string(t.q.size()) +
                       " generators p, a, q, the matrix is of size " + std::to_string(n));
    }
  }
  for (index_t i = 0; i < n; ++i) {
    const index_t before = i == 0 ? 0 : t.q[i - 1].rows(), after = i + 1 == n ? 0 : t.q[i].rows();
    require_shape(place, ".p", i, t.p[i], 1, before);
    require_shape(place, ".a", i, t.a[i], after, before);
    require_shape(place, ".q", i, t.q[i], after, 1);
  }
}

template <Field F>
void require_consistent(const char* operation, const Quasiseparable<F>& m) {
  require_consistent(operation, "lower", m.lower, m.size());
  require_consistent(operation, "upper_transposed", m.upper_transposed, m.size());
}

template <Field F>
void require_same(const char* operation, const Quasiseparable<F>& x, const Quasiseparable<F>& y) {
  require_consistent(operation, x);
  require_consistent(operation, y);
  if (x.size() != y.size()) {
    throw ShapeError(std::string(operation) + ": the left matrix is of size " +
                     std::to_string(x.size()) + ", the right one of size " +
                     std::to_string(y.size()));
  }
}

template <Field F>
Matrix<F> single(const F& field, const typename F::Element& x) {
  Matrix<F> m(field, 1, 1);
  m(0, 0) = x;
  return m;
}

template <Field F>
Triangle<F> minimal(const F& field, Triangle<F> t) {
  const index_t n = t.size();
  // Observability, from the end: state k becomes R x, where R has independent rows and what the
  // rows k..n-1 see of x is seen of R x.
  Matrix<F> r(field, 0, 0);
  for (index_t k = n; k-- > 0;) {
    t.q[k] = r * t.q[k];
    auto [left, right] = rank_factors(stacked(t.p[k], r * t.a[k]));
    t.p[k] = left.block(0, 1, 0, left.cols());
    t.a[k] = left.block(1, left.rows(), 0, left.cols());
    r = std::move(right);
  }
  // Reachability, from the beginning: state k is C x for a new state x, where C spans what the
  // columns 0..k-1 reach.
  Matrix<F> c(field, 0, 0);
  for (index_t k = 0; k < n; ++k) {
    t.p[k] = t.p[k] * c;
    auto [left, right] = rank_factors(beside(t.a[k] * c, t.q[k]));
    t.a[k] = right.block(0, right.rows(), 0, c.cols());
    t.q[k] = right.block(0, right.rows(), c.cols(), c.cols() + 1);
    c = std::move(left);
  }
  return t;
}

template <Field F>
Triangle<F> add(const Triangle<F>& x, const Triangle<F>& y) {
  Triangle<F> sum;
  for (index_t k = 0; k < x.size(); ++k) {
    const auto &xa = x.a[k], &ya = y.a[k];
    Matrix<F> a(xa.field(), xa.rows() + ya.rows(), xa.cols() + ya.cols());
    a.set_block(0, 0, xa);
    a.set_block(xa.rows(), xa.cols(), ya);
    sum.a.push_back(std::move(a));
    sum.p.push_back(beside(x.p[k], y.p[k]));
    sum.q.push_back(stacked(x.q[k], y.q[k]));
  }
  return sum;
}

/// What products need: for all k, f_k = sum over l < k of (column l of x's lower triangle)(row l of
/// y's upper one) in states k, and z_k = sum over l >= k of the same with lower and upper exchanged.
template <Field F>
struct Gramians {
  std::vector<Matrix<F>> f, z;

  Gramians(const Quasiseparable<F>& x, const Quasiseparable<F>& y) {
    const index_t n = x.size();
    const Matrix<F> empty(x.field, 0, 0);
    f.assign(static_cast<std::size_t>(n + 1), empty);
    z = f;
    const auto &xl = x.lower, &xu = x.upper_transposed, &yl = y.lower, &yu = y.upper_transposed;
    for (index_t k = 0; k < n; ++k) {
      f[k + 1] = xl.a[k] * f[k] * yu.a[k].transposed() + xl.q[k] * yu.q[k].transposed();
    }
    for (index_t k = n; k-- > 0;) {
      z[k] = xu.a[k].transposed() * z[k + 1] * yl.a[k] + xu.p[k].transposed() * yl.p[k];
    }
  }
};

/// The strictly lower triangle of x y.
template <Field F>
Triangle<F> lower_of_product(const Quasiseparable<F>& x, const Quasiseparable<F>& y,
                             const Gramians<F>& gramians) {
  Triangle<F> product;
  for (index_t k = 0; k < x.size(); ++k) {
    const auto &xa = x.lower.a[k], &xq = x.lower.q[k], &ya = y.lower.a[k], &yp = y.lower.p[k];
    product.p.push_back(
        beside(x.lower.p[k], single(x.field, x.diagonal[k]) * yp +
                                 x.upper_transposed.q[k].transposed() * gramians.z[k + 1] * ya));
    Matrix<F> a(x.field, xa.rows() + ya.rows(), xa.cols() + ya.cols());
    a.set_block(0, 0, xa);
    a.set_block(0, xa.cols(), xq * yp);
    a.set_block(xa.rows(), xa.cols(), ya);
    product.a.push_back(std::move(a));
    product.q.push_back(stacked(xq * single(x.field, y.diagonal[k]) +
                                    xa * gramians.f[k] * y.upper_transposed.p[k].transposed(),
                                y.lower.q[k]));
  }
  return product;
}

template <Field F>
Triangle<F> strictly_lower(const Matrix<F>& m) {
  const index_t n = m.rows();
  Triangle<F> t;
  // H_k = C W with independent columns of C and independent rows of W; only C is kept.
  Matrix<F> c(m.field(), n, 0);
  for (index_t k = 0; k < n; ++k) {
    const index_t state = c.cols();
    t.p.push_back(c.block(0, 1, 0, state));
    auto [left, right] =
        rank_factors(beside(c.block(1, n - k, 0, state), m.block(k + 1, n, k, k + 1)));
    t.a.push_back(right.block(0, right.rows(), 0, state));
    t.q.push_back(right.block(0, right.rows(), state, state + 1));
    c = std::move(left);
  }
  return t;
}

/// The strictly lower triangle of m or, with_diagonal, the lower triangle of m: as the strictly
/// lower one of m moved down by one row.
template <Field F>
Triangle<F> lower_generators(const Matrix<F>& m, bool with_diagonal) {
  if (!with_diagonal) return strictly_lower(m);
  Matrix<F> moved(m.field(), m.rows() + 1, m.cols() + 1);
  moved.set_block(1, 0, m);
  return strictly_lower(moved);
}

/// Adds the triangle to m, or to its transpose.
template <Field F>
void add_to(const Triangle<F>& t, bool transposed, Matrix<F>& m) {
  for (index_t j = 0; j < t.size(); ++j) {
    Matrix<F> state = t.q[j];
    for (index_t i = j + 1; i < t.size(); ++i) {
      auto& entry = transposed ? m(j, i) : m(i, j);
      entry = m.field().add(entry, (t.p[i] * state)(0, 0));
      state = t.a[i] * state;
    }
  }
}

}  // namespace detail

/// The n x n matrix entry by entry. O(n^2 s^2) operations. Throws ShapeError.
template <Field F>
Matrix<F> to_dense(const Quasiseparable<F>& m) {
  detail::require_consistent("exact::to_dense", m);
  Matrix<F> dense(m.field, m.size(), m.size());
  for (index_t i = 0; i < m.size(); ++i) dense(i, i) = m.diagonal[i];
  detail::add_to(m.lower, false, dense);
  detail::add_to(m.upper_transposed, true, dense);
  return dense;
}

/// Generators of a dense n x n matrix with minimal states: state k is of size rank H_k. O(n^2 s^2)
/// operations. Throws ShapeError when m is not square.
template <Field F>
Quasiseparable<F> from_dense(const Matrix<F>& m) {
  detail::require_square("exact::from_dense", m);
  Quasiseparable<F> result{
      m.field(), detail::strictly_lower(m), detail::strictly_lower(m.transposed()), {}};
  for (index_t i = 0; i < m.rows(); ++i) result.diagonal.push_back(m(i, i));
  return result;
}

/// The same matrix with minimal states: state k is of size rank H_k. O(n s^3) operations. Throws
/// ShapeError.
template <Field F>
Quasiseparable<F> minimal(const Quasiseparable<F>& m) {
  detail::require_consistent("exact::minimal", m);
  return {m.field, detail::minimal(m.field, m.lower), detail::minimal(m.field, m.upper_transposed),
          m.diagonal};
}

template <Field F>
Quasiseparable<F> transpose(Quasiseparable<F> m) {
  std::swap(m.lower, m.upper_transposed);
  return m;
}

/// x + y; the states are those of x and y side by side. O(n s^2) operations. Throws ShapeError.
template <Field F>
Quasiseparable<F> add(const Quasiseparable<F>& x, const Quasiseparable<F>& y) {
  detail::require_same("exact::add", x, y);
  Quasiseparable<F> sum{x.field, detail::add(x.lower, y.lower),
                        detail::add(x.upper_transposed, y.upper_transposed), x.diagonal};
  for (index_t i = 0; i < x.size(); ++i) {
    sum.diagonal[i] = x.field.add(sum.diagonal[i], y.diagonal[i]);
  }
  return sum;
}

/// x y; the sizes of the states add up. O(n s^3) operations. Throws ShapeError.
template <Field F>
Quasiseparable<F> multiply(const Quasiseparable<F>& x, const Quasiseparable<F>& y) {
  detail::require_same("exact::multiply", x, y);
  const Quasiseparable<F> xt = transpose(x), yt = transpose(y);
  const detail::Gramians<F> gramians(x, y);
  Quasiseparable<F> product{x.field,
                            detail::lower_of_product(x, y, gramians),
                            detail::lower_of_product(yt, xt, detail::Gramians<F>(yt, xt)),
                            {}};
  for (index_t k = 0; k < x.size(); ++k) {
    const auto below = x.lower.p[k] * gramians.f[k] * y.upper_transposed.p[k].transposed();
    const auto above = x.upper_transposed.q[k].transposed() * gramians.z[k + 1] * y.lower.q[k];
    product.diagonal.push_back(x.field.add(x.field.multiply(x.diagonal[k], y.diagonal[k]),
                                           x.field.add(below(0, 0), above(0, 0))));
  }
  return product;
}

/// The inverse with minimal states, which are as large as those of `minimal(m)`, or nothing when m
/// is singular. O(n s^3) operations. No leading minor need be different from 0.
///
/// The matrix is embedded into a sparse system for the solution x_k, the states w_k of the lower
/// and v_k of the upper triangle:
///   w_{k+1} = a_k w_k + q_k x_k,  v_k = a'_k^T v_{k+1} + p'_k^T x_k,
///   p_k w_k + d_k x_k + q'_k^T v_{k+1} = b_k.
/// Step k eliminates w_k, v_k and x_k, with a pivot search among all equations that contain them;
/// if they are not independent there, the matrix is singular. The equations left over contain
/// w_{k+1} and v_{k+1} only; their right-hand sides, s_{k+1} in number, are the states of the lower
/// triangle of the inverse. Back substitution is the upper triangle. Throws ShapeError.
template <Field F>
std::optional<Quasiseparable<F>> inverse(const Quasiseparable<F>& m) {
  detail::require_consistent("exact::inverse", m);
  const index_t n = m.size();
  const auto one = Matrix<F>::identity(m.field, 1);
  const auto minus = [&](const Matrix<F>& x) { return Matrix<F>(m.field, x.rows(), x.cols()) - x; };

  // c_{k+1} = alpha c_k + beta b_k;  [w; v]_k = y_y [w; v]_{k+1} + y_c c_k + y_b b_k, x_k likewise.
  struct Step {
    Matrix<F> alpha, beta, y_y, y_c, y_b, x_y, x_c, x_b;
  };
  std::vector<Step> steps;
  Matrix<F> pending(m.field, 0, 0);
  for (index_t k = 0; k < n; ++k) {
    const auto &a = m.lower.a[k], &b = m.upper_transposed.a[k];
    const index_t w = a.cols(), w_next = a.rows(), v = b.cols(), v_next = b.rows();
    const index_t state = pending.rows(), gone = w + v + 1, total = state + w_next + v + 1;
    Matrix<F> eliminated(m.field, total, gone), kept(m.field, total, w_next + v_next);
    eliminated.set_block(0, 0, pending);
    eliminated.set_block(state, 0, minus(a));
    eliminated.set_block(state, w + v, minus(m.lower.q[k]));
    kept.set_block(state, 0, Matrix<F>::identity(m.field, w_next));
    eliminated.set_block(state + w_next, w, Matrix<F>::identity(m.field, v));
    eliminated.set_block(state + w_next, w + v, minus(m.upper_transposed.p[k].transposed()));
    kept.set_block(state + w_next, w_next, minus(b.transposed()));
    eliminated.set_block(total - 1, 0, m.lower.p[k]);
    eliminated.set_block(total - 1, w + v, detail::single(m.field, m.diagonal[k]));
    kept.set_block(total - 1, w_next, m.upper_transposed.q[k].transposed());

    const Echelon<F> e = echelon(eliminated);
    if (e.rank() < gone) return std::nullopt;
    const Matrix<F> rest = e.transform * kept;
    const auto rows = [&](const Matrix<F>& x, index_t begin, index_t end) {
      return x.block(begin, end, 0, x.cols());
    };
    const Matrix<F> from_c = e.transform.block(0, total, 0, state);
    const Matrix<F> from_b = e.transform.block(0, total, total - 1, total);
    steps.push_back({rows(from_c, gone, total), rows(from_b, gone, total),
                     minus(rows(rest, 0, w + v)), rows(from_c, 0, w + v), rows(from_b, 0, w + v),
                     minus(rows(rest, w + v, gone)), rows(from_c, w + v, gone),
                     rows(from_b, w + v, gone)});
    pending = rows(rest, gone, total);
  }

  Quasiseparable<F> result{m.field, {}, {}, {}};
  Triangle<F>&lower = result.lower, &upper = result.upper_transposed;
  for (auto* list : {&lower.p, &lower.a, &lower.q, &upper.p, &upper.a, &upper.q}) {
    list->assign(static_cast<std::size_t>(n), one);
  }
  result.diagonal.assign(static_cast<std::size_t>(n), m.field.from_integer(0));
  // [w; v]_k = Z_k c_k + a state that b_k, ..., b_{n-1} alone drive.
  Matrix<F> z(m.field, 0, 0);
  for (index_t k = n; k-- > 0;) {
    const Step& s = steps[k];
    lower.p[k] = s.x_c + s.x_y * z * s.alpha;
    lower.a[k] = s.alpha;
    lower.q[k] = s.beta;
    result.diagonal[k] = (s.x_b + s.x_y * z * s.beta)(0, 0);
    upper.q[k] = s.x_y.transposed();
    upper.a[k] = s.y_y.transposed();
    upper.p[k] = (s.y_b + s.y_y * z * s.beta).transposed();
    z = s.y_c + s.y_y * z * s.alpha;
  }
  return minimal(result);
}

}  // namespace structmat::exact
