/// \file
/// The two block-diagonal halves of a Monarch product. The transpositions of the index grid are
/// strides: rows lambda, lambda + l, ... of a row-major matrix are one operand of BLAS.
#pragma once

#include "dense/row_major.hpp"

namespace structmat::monarch {

/// Block i of `count` blocks of neighbouring rows.
template <class T>
View<T, 2> rows_of(const View<T, 2>& m, index_t i, index_t count) {
  const index_t size = m.extent(0) / count;
  return m.slice(0, i * size, (i + 1) * size);
}

/// Rows i, i + count, ...
template <class T>
View<T, 2> interleaved(const View<T, 2>& m, index_t i, index_t count) {
  return {m.data() + i * m.stride(0),
          {m.extent(0) / count, m.extent(1)},
          {m.stride(0) * count, m.stride(1)}};
}

/// out := diag(op(w1_0), op(w1_1), ...) in. in, out: row-major.
template <Scalar T>
void first_half(Op op, const View<const T, 3>& w1, const View<const T, 2>& in,
                const View<T, 2>& out) {
  const index_t blocks = w1.extent(0);
  for (index_t i = 0; i < blocks; ++i) {
    dense::multiply<T>(op, w1.select(0, i), rows_of(in, i, blocks), rows_of(out, i, blocks));
  }
}

/// The same on interleaved rows.
template <Scalar T>
void second_half(Op op, const View<const T, 3>& w2, const View<const T, 2>& in,
                 const View<T, 2>& out) {
  const index_t blocks = w2.extent(0);
  for (index_t i = 0; i < blocks; ++i) {
    dense::multiply<T>(op, w2.select(0, i), interleaved(in, i, blocks),
                       interleaved(out, i, blocks));
  }
}

}  // namespace structmat::monarch
