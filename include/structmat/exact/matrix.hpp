/// \file
/// Small dense matrices over a field, and their linear algebra by elimination.
///
/// These are the tools of proofs: plain O(n^3) algorithms, the same for every field. Ranks of large
/// matrices over F_p and over the rationals are the business of exact/rank.hpp and
/// exact/rank_profile.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "structmat/exact/field.hpp"

namespace structmat::exact {

/// rows x cols elements, row-major, with their field.
template <Field F>
class Matrix {
 public:
  using Element = typename F::Element;

  /// Zeros. Throws ShapeError for negative extents.
  Matrix(F field, index_t rows, index_t cols) : field_(std::move(field)), rows_(rows), cols_(cols) {
    if (rows < 0 || cols < 0) {
      throw ShapeError("exact::Matrix: the extents are " + std::to_string(rows) + " x " +
                       std::to_string(cols) + ", they must not be negative");
    }
    elements_.assign(static_cast<std::size_t>(rows * cols), field_.from_integer(0));
  }
  static Matrix identity(F field, index_t n) {
    Matrix m(std::move(field), n, n);
    for (index_t i = 0; i < n; ++i) m(i, i) = m.field_.from_integer(1);
    return m;
  }
  /// Rows of integers.
  static Matrix from_integers(F field, const std::vector<std::vector<std::int64_t>>& rows) {
    const index_t cols = rows.empty() ? 0 : static_cast<index_t>(rows.front().size());
    Matrix m(std::move(field), static_cast<index_t>(rows.size()), cols);
    for (index_t i = 0; i < m.rows_; ++i) {
      require_equal("exact::Matrix: row " + std::to_string(i), index_t(rows[i].size()), cols);
      for (index_t j = 0; j < cols; ++j) m(i, j) = m.field_.from_integer(rows[i][j]);
    }
    return m;
  }
  static Matrix random(F field, index_t rows, index_t cols, Engine& engine) {
    Matrix m(std::move(field), rows, cols);
    for (Element& x : m.elements_) x = m.field_.random(engine);
    return m;
  }

  const F& field() const { return field_; }
  index_t rows() const { return rows_; }
  index_t cols() const { return cols_; }
  Element& operator()(index_t i, index_t j) { return elements_[i * cols_ + j]; }
  const Element& operator()(index_t i, index_t j) const { return elements_[i * cols_ + j]; }
  const std::vector<Element>& elements() const { return elements_; }

  /// Rows r0 .. r1-1 of columns c0 .. c1-1. Throws ShapeError.
  Matrix block(index_t r0, index_t r1, index_t c0, index_t c1) const {
    if (r0 < 0 || r0 > r1 || r1 > rows_ || c0 < 0 || c0 > c1 || c1 > cols_) {
      const auto range = [](index_t from, index_t to) {
        return "[" + std::to_string(from) + ", " + std::to_string(to) + ")";
      };
      throw ShapeError("exact::Matrix: block " + range(r0, r1) + " x " + range(c0, c1) +
                       " of a matrix of " + std::to_string(rows_) + " x " + std::to_string(cols_));
    }
    Matrix b(field_, r1 - r0, c1 - c0);
    for (index_t i = r0; i < r1; ++i) {
      for (index_t j = c0; j < c1; ++j) b(i - r0, j - c0) = (*this)(i, j);
    }
    return b;
  }
  /// Writes b at rows r0.. and columns c0... Throws ShapeError.
  void set_block(index_t r0, index_t c0, const Matrix& b) {
    if (r0 < 0 || c0 < 0 || r0 + b.rows_ > rows_ || c0 + b.cols_ > cols_) {
      throw ShapeError("exact::Matrix: a block of " + std::to_string(b.rows_) + " x " +
                       std::to_string(b.cols_) + " at (" + std::to_string(r0) + ", " +
                       std::to_string(c0) + ") leaves the matrix of " + std::to_string(rows_) +
                       " x " + std::to_string(cols_));
    }
    for (index_t i = 0; i < b.rows_; ++i) {
      for (index_t j = 0; j < b.cols_; ++j) (*this)(r0 + i, c0 + j) = b(i, j);
    }
  }
  Matrix transposed() const {
    Matrix t(field_, cols_, rows_);
    for (index_t i = 0; i < rows_; ++i) {
      for (index_t j = 0; j < cols_; ++j) t(j, i) = (*this)(i, j);
    }
    return t;
  }
  bool is_zero() const {
    return std::all_of(elements_.begin(), elements_.end(),
                       [&](const Element& x) { return field_.weight(x) == 0; });
  }

  friend Matrix operator+(const Matrix& a, const Matrix& b) {
    return a.combined(b, "sum",
                      [&](const Element& x, const Element& y) { return a.field_.add(x, y); });
  }
  friend Matrix operator-(const Matrix& a, const Matrix& b) {
    return a.combined(b, "difference",
                      [&](const Element& x, const Element& y) { return a.field_.subtract(x, y); });
  }
  /// Entry by entry.
  friend Matrix hadamard(const Matrix& a, const Matrix& b) {
    return a.combined(b, "Hadamard product",
                      [&](const Element& x, const Element& y) { return a.field_.multiply(x, y); });
  }
  friend Matrix operator*(const Matrix& a, const Matrix& b) {
    require_equal("exact::Matrix: product: columns of the left factor", a.cols_, b.rows_);
    Matrix c(a.field_, a.rows_, b.cols_);
    for (index_t i = 0; i < a.rows_; ++i) {
      for (index_t l = 0; l < a.cols_; ++l) {
        const Element& x = a(i, l);
        if (a.field_.weight(x) == 0) continue;
        for (index_t j = 0; j < b.cols_; ++j) {
          c(i, j) = a.field_.add(c(i, j), a.field_.multiply(x, b(l, j)));
        }
      }
    }
    return c;
  }
  friend bool operator==(const Matrix& a, const Matrix& b) {
    return a.rows_ == b.rows_ && a.cols_ == b.cols_ && a.elements_ == b.elements_;
  }

 private:
  static void require_equal(const std::string& what, index_t left, index_t right) {
    if (left != right) {
      throw ShapeError(what + ": " + std::to_string(left) + ", expected " + std::to_string(right));
    }
  }
  template <class Operation>
  Matrix combined(const Matrix& b, const char* name, const Operation& operation) const {
    const std::string what = std::string("exact::Matrix: ") + name;
    require_equal(what + ": rows", rows_, b.rows_);
    require_equal(what + ": columns", cols_, b.cols_);
    Matrix c(field_, rows_, cols_);
    for (std::size_t l = 0; l < elements_.size(); ++l) {
      c.elements_[l] = operation(elements_[l], b.elements_[l]);
    }
    return c;
  }

  F field_;
  index_t rows_, cols_;
  std::vector<Element> elements_;
};

/// [a; b], one above the other.
template <Field F>
Matrix<F> stacked(const Matrix<F>& a, const Matrix<F>& b) {
  Matrix<F> c(a.field(), a.rows() + b.rows(), std::max(a.cols(), b.cols()));
  if (a.cols() != b.cols()) {
    throw ShapeError("exact::stacked: the upper matrix has " + std::to_string(a.cols()) +
                     " columns, the lower one " + std::to_string(b.cols()));
  }
  c.set_block(0, 0, a);
  c.set_block(a.rows(), 0, b);
  return c;
}

/// [a, b], side by side.
template <Field F>
Matrix<F> beside(const Matrix<F>& a, const Matrix<F>& b) {
  if (a.rows() != b.rows()) {
    throw ShapeError("exact::beside: the left matrix has " + std::to_string(a.rows()) +
                     " rows, the right one " + std::to_string(b.rows()));
  }
  Matrix<F> c(a.field(), a.rows(), a.cols() + b.cols());
  c.set_block(0, 0, a);
  c.set_block(0, a.cols(), b);
  return c;
}

/// The Kronecker product: block (i, j) is a_ij b.
template <Field F>
Matrix<F> kronecker(const Matrix<F>& a, const Matrix<F>& b) {
  Matrix<F> k(a.field(), a.rows() * b.rows(), a.cols() * b.cols());
  for (index_t i = 0; i < k.rows(); ++i) {
    for (index_t j = 0; j < k.cols(); ++j) {
      k(i, j) = a.field().multiply(a(i / b.rows(), j / b.cols()), b(i % b.rows(), j % b.cols()));
    }
  }
  return k;
}

/// Result of echelon.
template <Field F>
struct Echelon {
  Matrix<F> reduced;             ///< reduced row echelon form, without its zero rows
  std::vector<index_t> columns;  ///< the pivot columns: the column rank profile, increasing
  Matrix<F> transform;           ///< invertible, with transform A = [reduced; 0]

  index_t rank() const { return static_cast<index_t>(columns.size()); }
};

/// Reduced row echelon form by Gauss-Jordan elimination; among the rows the pivot of largest weight
/// is taken. O(m n r) operations.
template <Field F>
Echelon<F> echelon(Matrix<F> a) {
  const F field = a.field();
  const index_t m = a.rows(), n = a.cols();
  Matrix<F> t = Matrix<F>::identity(field, m);
  std::vector<index_t> columns;
  const auto eliminate = [&](Matrix<F>& x, index_t i, index_t r, const auto& factor) {
    for (index_t j = 0; j < x.cols(); ++j) {
      x(i, j) = field.subtract(x(i, j), field.multiply(factor, x(r, j)));
    }
  };
  for (index_t c = 0, r = 0; c < n && r < m; ++c) {
    index_t best = r;
    for (index_t i = r; i < m; ++i) {
      if (field.weight(a(i, c)) > field.weight(a(best, c))) best = i;
    }
    if (field.weight(a(best, c)) == 0) continue;
    const auto inverse = field.invert(a(best, c));
    for (auto* x : {&a, &t}) {
      for (index_t j = 0; j < x->cols(); ++j) {
        std::swap((*x)(r, j), (*x)(best, j));
        (*x)(r, j) = field.multiply((*x)(r, j), inverse);
      }
    }
    for (index_t i = 0; i < m; ++i) {
      if (i == r || field.weight(a(i, c)) == 0) continue;
      const auto factor = a(i, c);
      eliminate(a, i, r, factor);
      eliminate(t, i, r, factor);
    }
    columns.push_back(c);
    ++r;
  }
  return {a.block(0, static_cast<index_t>(columns.size()), 0, n), columns, std::move(t)};
}

namespace detail {
template <Field F>
void require_square(const char* operation, const Matrix<F>& m) {
  if (m.rows() != m.cols()) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.rows()) +
                     " x " + std::to_string(m.cols()) + ", it must be square");
  }
}
}  // namespace detail

/// A^-1, or nothing when A is singular. Throws ShapeError when A is not square.
template <Field F>
std::optional<Matrix<F>> inverse(const Matrix<F>& a) {
  detail::require_square("exact::inverse", a);
  Echelon<F> e = echelon(a);
  if (e.rank() < a.rows()) return std::nullopt;
  return std::move(e.transform);
}

/// C and R with X = C R, where the columns of C and the rows of R are independent.
template <Field F>
struct RankFactors {
  Matrix<F> left, right;
};

/// Rank factorisation: C is in column echelon form and R consists of rows of X.
/// O(m n r) operations for X of m x n and rank r.
template <Field F>
RankFactors<F> rank_factors(const Matrix<F>& x) {
  const Echelon<F> e = echelon(x.transposed());
  Matrix<F> rows(x.field(), e.rank(), x.cols());
  for (index_t l = 0; l < e.rank(); ++l) {
    for (index_t j = 0; j < x.cols(); ++j) rows(l, j) = x(e.columns[l], j);
  }
  return {e.reduced.transposed(), std::move(rows)};
}

}  // namespace structmat::exact
