/// \file
/// A dense matrix as an operator: the baseline that structured ones are compared with, and an
/// ingredient of sums.
#pragma once

#include "structmat/core/array.hpp"
#include "structmat/core/operand.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat {

/// Owns m x n numbers, row-major; products run on BLAS.
///
/// apply: x (n, k) in, y (m, k) out with unit stride along k unless k = 1; no overlap. Cost: 2 m n
/// k flops. Accuracy: componentwise, n eps |A| |x|. Throws ShapeError, DomainError (overlap),
/// Unsupported (strides).
template <Scalar T>
class Dense {
 public:
  using value_type = T;
  explicit Dense(Array<T, 2> entries) : a_(std::move(entries)) {}

  index_t rows() const { return a_.extent(0); }
  index_t cols() const { return a_.extent(1); }
  T entry(index_t i, index_t j) const { return a_(i, j); }
  View<const T, 2> view() const { return a_.view(); }

  void apply(View<const T, 2> x, View<T, 2> y) const { multiply(Op::none, x, y); }
  void apply_transpose(View<const T, 2> x, View<T, 2> y) const { multiply(Op::transpose, x, y); }
  void apply_adjoint(View<const T, 2> x, View<T, 2> y) const { multiply(Op::adjoint, x, y); }

 private:
  void multiply(Op op, const View<const T, 2>& x, const View<T, 2>& y) const {
    const index_t m = op == Op::none ? rows() : cols(), n = op == Op::none ? cols() : rows();
    detail::check_operands("dense::apply", 1, m, n, as_batch(x), as_batch(y));
    if (x.extent(1) == 1) {
      dense::gemv<T>(op, T{1}, a_, x.select(1, 0), T{0}, y.select(1, 0));
    } else {
      dense::gemm<T>(op, Op::none, T{1}, a_, x, T{0}, y);
    }
  }

  Array<T, 2> a_;
};

}  // namespace structmat
