/// \file
/// Operands of any strides as row-major matrices for BLAS, so that layout does not change a bit of
/// the result.
#pragma once

#include "structmat/core/array.hpp"
#include "structmat/core/op.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat::dense {

/// An operand where it lies if it is row-major and wanted as it is; a copy otherwise.
template <Scalar T, int Rank = 2>
class RowMajor {
 public:
  explicit RowMajor(const View<const T, Rank>& m, bool conjugated = false) : view_(m) {
    if (m.is_row_major() && !conjugated) return;
    own_ = to_array(m);
    if (conjugated) {
      for (T& v : own_) v = conjugate(v);
    }
    view_ = std::as_const(own_).view();
  }
  RowMajor(const RowMajor&) = delete;
  RowMajor& operator=(const RowMajor&) = delete;

  const View<const T, Rank>& view() const { return view_; }

 private:
  Array<T, Rank> own_;
  View<const T, Rank> view_;
};

/// compute(y) where y is row-major; through a copy otherwise. conjugated: y := conj of what compute
/// leaves.
template <Scalar T, class Compute>
void write_row_major(const View<T, 2>& y, bool conjugated, const Compute& compute) {
  if (y.is_row_major() && !conjugated) return compute(y);
  Array<T, 2> own(y.extents(), uninitialized);
  compute(own.view());
  if (conjugated) {
    for (T& v : own) v = conjugate(v);
  }
  copy(own.view(), y);
}

/// C := op(A) B, the kernel chosen by the number of columns of B.
template <Scalar T>
void multiply(Op op, const View<const T, 2>& a, const View<const T, 2>& b, const View<T, 2>& c) {
  if (b.extent(1) == 1 && c.extent(1) == 1) {
    gemv<T>(op, T{1}, a, b.select(1, 0), T{0}, c.select(1, 0));
  } else {
    gemm<T>(op, Op::none, T{1}, a, b, T{0}, c);
  }
}

/// sum += m, or conj(m); sum may be absent (data() null) and has any strides, 0 among them.
template <Scalar T>
void add_to(const View<T, 2>& sum, const Array<T, 2>& m, bool conjugated = false) {
  if (!sum.data()) return;
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t j = 0; j < m.extent(1); ++j) {
      sum(i, j) += conjugated ? conjugate(m(i, j)) : m(i, j);
    }
  }
}

}  // namespace structmat::dense
