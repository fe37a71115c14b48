/// \file
/// The down-shift Z and the reversal J as operators.
#pragma once

#include "structmat/core/array.hpp"
#include "structmat/core/operand.hpp"

namespace structmat {

/// Z of size n: (Z x)_0 = 0, (Z x)_i = x_{i-1}; Z^H = Z^T moves up.
///
/// x, y: (n, k), any strides, no overlap. Cost: n k copies. Exact. Throws ShapeError, DomainError.
template <Scalar T>
class Shift {
 public:
  using value_type = T;
  explicit Shift(index_t n) : n_(n) {}

  index_t rows() const { return n_; }
  index_t cols() const { return n_; }
  T entry(index_t i, index_t j) const { return i - j == 1 ? T{1} : T{0}; }

  void apply(View<const T, 2> x, View<T, 2> y) const { move(x, y, 1); }
  void apply_transpose(View<const T, 2> x, View<T, 2> y) const { move(x, y, -1); }
  void apply_adjoint(View<const T, 2> x, View<T, 2> y) const { move(x, y, -1); }

 private:
  void move(const View<const T, 2>& x, const View<T, 2>& y, index_t by) const {
    detail::check_operands("shift::apply", 1, n_, n_, as_batch(x), as_batch(y));
    for (index_t i = 0; i < n_; ++i) {
      const index_t from = i - by;
      for (index_t c = 0; c < y.extent(1); ++c) y(i, c) = from >= 0 && from < n_ ? x(from, c) : T{};
    }
  }

  index_t n_;
};

/// J of size n: (J x)_i = x_{n-1-i}; J = J^T = J^-1.
///
/// x, y: (n, k), any strides, no overlap. Cost: n k copies. Exact. Throws ShapeError, DomainError.
template <Scalar T>
class Flip {
 public:
  using value_type = T;
  explicit Flip(index_t n) : n_(n) {}

  index_t rows() const { return n_; }
  index_t cols() const { return n_; }
  T entry(index_t i, index_t j) const { return i + j == n_ - 1 ? T{1} : T{0}; }

  void apply(View<const T, 2> x, View<T, 2> y) const {
    detail::check_operands("flip::apply", 1, n_, n_, as_batch(x), as_batch(y));
    copy(x.reversed(0), y);
  }
  void apply_transpose(View<const T, 2> x, View<T, 2> y) const { apply(x, y); }
  void apply_adjoint(View<const T, 2> x, View<T, 2> y) const { apply(x, y); }

 private:
  index_t n_;
};

}  // namespace structmat
