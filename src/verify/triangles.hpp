/// \file
/// One triangle of a matrix in generator form, as a sequence of steps that the square roots of its
/// Gramians (square_root.hpp) take down and up.
///
/// A step of uniform generators is a boundary: with boundaries t = 0 .. N-1, the block below and
/// left of boundary t has rows from out_t on and columns up to in_t, and
///   M(out i, in j) = out_i^T a_i ... a_{j+1} in_j,   i >= j.
/// That is the strictly lower triangle of n = N + 1 rows, out_t = p_{t+1}, in_t = q_t, and as well
/// the semiseparable triangle of n = N rows, out_t = c_t, in_t = b_t. A step of block generators is
/// a block of rows, with the boundaries inside it.
#pragma once

#include <vector>

#include "recurrence/walk.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/recurrence/block.hpp"
#include "structmat/recurrence/transition.hpp"
#include "verify/square_root.hpp"

namespace structmat::verify {

/// The square roots around step t.
template <Scalar T>
struct Roots {
  const SquareRoot<T>& rows;            ///< from step t on
  const SquareRoot<T>& rows_after;      ///< from step t + 1 on
  const SquareRoot<T>& columns_before;  ///< of the steps before t
  const SquareRoot<T>& columns;         ///< up to step t
};

/// The sum of |m F^T|^2.
template <Scalar T>
SumOfSquares squares_of(const View<const T, 2>& m, const SquareRoot<T>& f) {
  const ScaledRows<T> product(m, {}, f);
  SumOfSquares sum;
  for (index_t i = 0; i < m.extent(0); ++i) {
    double row = 0;
    for (index_t j = 0; j < f.rows(); ++j) row += double(std::norm(product.x(i, j)));
    sum.add(std::sqrt(row), product.exponents[i]);
  }
  return sum;
}

template <Scalar T, transition::Uniform K>
struct UniformTriangle {
  using value_type = T;
  View<const T, 2> out, in;
  View<const T, K::rank - 1> a;
  bool transposed = false;  ///< a_t is to be read as its transpose

  /// Steps whose square roots are kept at a time.
  static constexpr index_t window = 256;

  index_t steps() const { return out.extent(0); }
  /// Blocks M(k:n, ...) before step t.
  index_t entries_before(index_t t) const { return t; }
  index_t largest_block() const { return out.extent(1); }

  SquareRoot<T> start() const {
    const index_t r = out.extent(1);
    return K::rank == 4 ? SquareRoot<T>(0, 0) : SquareRoot<T>(r, r);
  }
  /// From the rows of step t + 1 on to those of step t on.
  void down(index_t t, SquareRoot<T>& rows) const {
    advance(rows, t + 1 < steps() ? t + 1 : 0, out.slice(0, t, t + 1), transposed);
  }
  /// From the columns before step t to those up to step t.
  void up(index_t t, SquareRoot<T>& columns) const {
    advance(columns, t, in.slice(0, t, t + 1), !transposed);
  }
  /// The squares of all entries of column t.
  SumOfSquares squares(index_t t, const SquareRoot<T>& rows, const SquareRoot<T>&) const {
    return squares_of<T>(in.slice(0, t, t + 1), rows);
  }

  /// sink(entry, x, exponent): x 2^exponent has the singular values of block number `entry`.
  template <class Sink>
  void blocks(index_t t, const Roots<T>& roots, Scaled<T>& x, const Sink& sink) const {
    multiply(roots.rows, roots.columns, x);
    sink(t, x.x.view(), x.exponent);
  }

  /// sink(k, x, exponent): [r, 0; G, c] = x 2^exponent has, part by part, the singular values of
  /// M(k, 0:k), M(k+1:n, 0:k) and M(k+1:n, k) of the strictly lower triangle, 0 <= k < n - 1.
  template <class Sink>
  void corners(index_t t, const Roots<T>& roots, Scaled<T>& x, const Sink& sink) const {
    const SquareRoot<T>& f = roots.rows;
    const index_t below = f.rows(), left = t > 0 ? roots.columns_before.rows() : 0;
    Scaled<T> row, middle, column = ScaledRows<T>(in.slice(0, t, t + 1), {}, f).common();
    if (t > 0) {
      row = ScaledRows<T>(out.slice(0, t - 1, t), {}, roots.columns_before).common();
      std::vector<index_t> exponents(f.order());
      for (index_t l = 0; l < f.order(); ++l) exponents[l] = f.exponent(l);
      const Scaled<T> inner = ScaledRows<T>(matrix(t), exponents, roots.columns_before).common();
      middle = {Array<T, 2>({below, left}), inner.exponent};
      if (below > 0 && left > 0 && f.order() > 0) {
        dense::gemm<T>(Op::none, Op::none, T{1}, f.factor(), inner.x, T{0}, middle.x);
      }
    }
    x.x = Array<T, 2>({below + 1, left + 1});
    x.exponent = std::max({row.exponent, middle.exponent, column.exponent});
    for (index_t j = 0; j < left; ++j) {
      x.x(0, j) = times_power(row.x(0, j), row.exponent - x.exponent);
      for (index_t i = 0; i < below; ++i) {
        x.x(i + 1, j) = times_power(middle.x(i, j), middle.exponent - x.exponent);
      }
    }
    for (index_t i = 0; i < below; ++i) {
      x.x(i + 1, left) = times_power(column.x(0, i), column.exponent - x.exponent);
    }
    sink(t, x.x.view(), x.exponent);
  }

 private:
  /// root := [root a_t; row], or a_t^T; a_0 is not read (there is nothing before it).
  void advance(SquareRoot<T>& root, index_t t, const View<const T, 2>& row, bool transpose) const {
    const index_t r = out.extent(1);
    if constexpr (K::rank == 4) {
      const View<const T, 2> a_t = t == 0 ? View<const T, 2>(nullptr, {0, r}) : a.select(0, t);
      root.append(t > 0 && transpose ? a_t.transposed() : a_t, row);
    } else {
      static constexpr T zero{};
      const T* at = t == 0 ? &zero : a.data() + t * a.stride(0);
      const index_t step = K::rank == 3 && t > 0 ? a.stride(K::rank - 2) : 0;
      root.append(View<const T, 1>(at, {r}, {step}), row.select(0, 0));
    }
  }

  Array<T, 2> matrix(index_t t) const {
    const index_t r = out.extent(1);
    Array<T, 2> m({r, r});
    for (index_t l = 0; l < r; ++l) {
      if constexpr (K::rank == 2) m(l, l) = a(t);
      if constexpr (K::rank == 3) m(l, l) = a(t, l);
      if constexpr (K::rank == 4) {
        for (index_t j = 0; j < r; ++j) m(l, j) = transposed ? a(t, j, l) : a(t, l, j);
      }
    }
    return m;
  }
};

template <Scalar T>
struct BlockSteps {
  using value_type = T;
  const Partition& partition;
  const BlockTriangle<T>& triangle;
  const BlockDiagonal<T>& diagonal;
  bool transposed = false;     ///< the diagonal blocks are to be read transposed
  index_t extra = 0;           ///< 1: the blocks reach up to and include the diagonal
  bool free_diagonal = false;  ///< the diagonal is to be read as zeros

  static constexpr index_t window = 64;

  index_t steps() const { return partition.blocks(); }
  index_t entries_before(index_t i) const {
    return std::max<index_t>(partition.offsets[i] - 1 + extra, 0);
  }
  index_t largest_block() const {
    index_t largest = 0;
    for (index_t i = 0; i < steps(); ++i) {
      const index_t m = partition.size(i);
      for (index_t t = 0; t < m; ++t) {
        largest = std::max(largest,
                           std::min(triangle.state(i) + t + extra, m - t + triangle.state(i + 1)));
      }
    }
    return largest;
  }

  SquareRoot<T> start() const { return SquareRoot<T>(0, 0); }
  void down(index_t i, SquareRoot<T>& rows) const {
    rows.append(triangle.a(0, i), triangle.p(0, i));
  }
  void up(index_t i, SquareRoot<T>& columns) const {
    columns.append(triangle.a(0, i).transposed(), triangle.q(0, i));
  }
  /// The squares of all entries below diagonal block i.
  SumOfSquares squares(index_t i, const SquareRoot<T>&, const SquareRoot<T>& rows_after) const {
    return squares_of<T>(triangle.q(0, i), rows_after);
  }

  /// With F = rows_after, C = columns_before: block begin + t has the singular values of
  ///   [P(t:, :) C^T, D(t:, :t); F A C^T, F Q(:t, :)^T].
  template <class Sink>
  void blocks(index_t i, const Roots<T>& roots, Scaled<T>& x, const Sink& sink) const;

  /// With extra = 1 and a free diagonal, the blocks are the corners.
  template <class Sink>
  void corners(index_t i, const Roots<T>& roots, Scaled<T>& x, const Sink& sink) const {
    blocks(i, roots, x, sink);
  }
};

template <Scalar T>
template <class Sink>
void BlockSteps<T>::blocks(index_t i, const Roots<T>& roots, Scaled<T>& x, const Sink& sink) const {
  const SquareRoot<T>&f = roots.rows_after, &c = roots.columns_before;
  const index_t m = partition.size(i), left = c.rows(), below = f.rows();
  const ScaledRows<T> pc(triangle.p(0, i), {}, c), qf(triangle.q(0, i), {}, f);
  std::vector<index_t> exponents(f.order());
  for (index_t l = 0; l < f.order(); ++l) exponents[l] = f.exponent(l);
  const Scaled<T> inner = ScaledRows<T>(triangle.a(0, i), exponents, c).common();
  Array<T, 2> fac({below, left});
  if (!fac.empty() && f.order() > 0) {
    dense::gemm<T>(Op::none, Op::none, T{1}, f.factor(), inner.x, T{0}, fac);
  }
  // Rows of the diagonal block, each with its exponent.
  const View<const T, 2> whole = diagonal.block(0, i);
  const View<const T, 2> source = transposed ? whole.transposed() : whole;
  Array<T, 2> d({m, m});
  std::vector<index_t> d_exponents(m, no_exponent);
  for (index_t row = 0; row < m; ++row) {
    const index_t end = row + (extra == 1 && !free_diagonal ? 1 : 0);
    index_t& e = d_exponents[row];
    for (index_t j = 0; j < end; ++j) e = std::max(e, exponent_of(source(row, j)));
    for (index_t j = 0; j < end; ++j) d(row, j) = times_power(source(row, j), -e);
  }

  using R = real_t<T>;
  const index_t first = partition.begin(i) == 0 && extra == 0 ? 1 : 0;
  std::vector<R> factors(m);
  for (index_t t = first; t < m; ++t) {
    const index_t top = m - t, inside = t + extra, columns = left + inside;
    index_t largest = no_exponent;
    for (index_t row = t; row < m; ++row) {
      largest = std::max(largest, d_exponents[row]);
      if (left > 0) largest = std::max(largest, pc.exponents[row]);
    }
    if (below > 0) {
      if (left > 0) largest = std::max(largest, inner.exponent);
      for (index_t j = 0; j < inside; ++j) largest = std::max(largest, qf.exponents[j]);
    }
    x.exponent = largest <= no_exponent / 2 ? 0 : largest;
    if (x.x.extent(0) != top + below || x.x.extent(1) != columns) {
      x.x = Array<T, 2>({top + below, columns}, uninitialized);
    }
    const auto factor = [&](index_t e) { return times_power(R{1}, e - x.exponent); };
    for (index_t row = 0; row < top; ++row) {
      T* to = x.x.data() + row * columns;
      const R of_p = factor(pc.exponents[t + row]), of_d = factor(d_exponents[t + row]);
      for (index_t j = 0; j < left; ++j) to[j] = pc.x(t + row, j) * of_p;
      for (index_t j = 0; j < inside; ++j) to[left + j] = d(t + row, j) * of_d;
    }
    const R of_a = factor(inner.exponent);
    for (index_t j = 0; j < inside; ++j) factors[j] = factor(qf.exponents[j]);
    for (index_t row = 0; row < below; ++row) {
      T* to = x.x.data() + (top + row) * columns;
      for (index_t j = 0; j < left; ++j) to[j] = fac(row, j) * of_a;
      for (index_t j = 0; j < inside; ++j) to[left + j] = qf.x(j, row) * factors[j];
    }
    sink(partition.begin(i) + t - 1 + extra, x.x.view(), x.exponent);
  }
}

/// The pass over one triangle: the square roots of the rows come from below, those of the columns
/// from above. Of the former, one in `window` steps is kept and those between are made again, so
/// that memory stays far below that of the generators.
template <class Triangle>
class Walk {
 public:
  using T = typename Triangle::value_type;

  /// Goes down once, which also gives the sum of squares of the triangle.
  explicit Walk(const Triangle& triangle) : triangle_(triangle), columns_(triangle.start()) {
    const index_t steps = triangle_.steps();
    kept_.resize(windows());
    SquareRoot<T> rows = triangle_.start(), after;
    for (index_t t = steps - 1; t >= 0; --t) {
      if ((t + 1) % Triangle::window == 0 || t + 1 == steps) kept_[t / Triangle::window] = rows;
      after = rows;
      triangle_.down(t, rows);
      squares_.add(triangle_.squares(t, rows, after));
    }
  }

  const SumOfSquares& squares() const { return squares_; }
  index_t windows() const { return (triangle_.steps() + Triangle::window - 1) / Triangle::window; }
  /// Blocks that windows before number w hold.
  index_t entries_before(index_t w) const {
    return triangle_.entries_before(std::min(w * Triangle::window, triangle_.steps()));
  }

  /// Visits the steps of window w; windows come in order. visit(t, roots)
  template <class Visit>
  void window(index_t w, const Visit& visit) {
    const index_t begin = w * Triangle::window,
                  end = std::min(begin + Triangle::window, triangle_.steps());
    rows_.resize(end - begin + 1);
    rows_[end - begin] = kept_[w];
    for (index_t t = end - 1; t >= begin; --t) {
      rows_[t - begin] = rows_[t - begin + 1];
      triangle_.down(t, rows_[t - begin]);
    }
    for (index_t t = begin; t < end; ++t) {
      before_ = columns_;
      triangle_.up(t, columns_);
      visit(t, Roots<T>{rows_[t - begin], rows_[t - begin + 1], before_, columns_});
    }
  }

  const Triangle& triangle() const { return triangle_; }

 private:
  Triangle triangle_;
  std::vector<SquareRoot<T>> kept_, rows_;
  SquareRoot<T> columns_, before_;
  SumOfSquares squares_;
};

}  // namespace structmat::verify
