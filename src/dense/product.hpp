/// \file
/// Products of small matrices as new matrices, for block algorithms.
#pragma once

#include "structmat/core/array.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat::dense {

/// op(A) op(B); strides as in gemm.
template <Scalar T>
Array<T, 2> product(Op op_a, View<const T, 2> a, Op op_b, View<const T, 2> b) {
  Array<T, 2> c({a.extent(op_a == Op::none ? 0 : 1), b.extent(op_b == Op::none ? 1 : 0)},
                uninitialized);
  gemm<T>(op_a, op_b, T{1}, a, b, T{0}, c);
  return c;
}

/// C += op(A) op(B).
template <Scalar T>
void add_product(Op op_a, View<const T, 2> a, Op op_b, View<const T, 2> b, View<T, 2> c) {
  gemm<T>(op_a, op_b, T{1}, a, b, T{1}, c);
}

/// [X, Y]
template <Scalar T>
Array<T, 2> beside(const View<const T, 2>& x, const View<const T, 2>& y) {
  Array<T, 2> m({x.extent(0), x.extent(1) + y.extent(1)}, uninitialized);
  copy(x, m.view().slice(1, 0, x.extent(1)));
  copy(y, m.view().slice(1, x.extent(1), m.extent(1)));
  return m;
}

/// [X; Y]
template <Scalar T>
Array<T, 2> stacked(const View<const T, 2>& x, const View<const T, 2>& y) {
  Array<T, 2> m({x.extent(0) + y.extent(0), x.extent(1)}, uninitialized);
  copy(x, m.view().slice(0, 0, x.extent(0)));
  copy(y, m.view().slice(0, x.extent(0), m.extent(0)));
  return m;
}

/// A part of a matrix: rows [r0, r1), columns [c0, c1).
template <class T>
View<T, 2> part(const View<T, 2>& m, index_t r0, index_t r1, index_t c0, index_t c1) {
  return m.slice(0, r0, r1).slice(1, c0, c1);
}

}  // namespace structmat::dense
