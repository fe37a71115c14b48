/// \file
/// The sweep over blocks of rows that finds the rank of a dense matrix.
#pragma once

#include <algorithm>
#include <cmath>

#include "structmat/core/array.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/lapack.hpp"

namespace structmat::verify {

/// C of at most as many rows as the rank so far, with C^H C = A^H A for the rows passed.
template <Scalar T>
class RowSweep {
 public:
  using R = real_t<T>;

  explicit RowSweep(index_t columns) : carried_({0, columns}) {}

  index_t state() const { return carried_.extent(0); }
  /// Singular values of [C before; rows], descending.
  const Array<R, 1>& values() const { return values_; }

  /// Takes in rows; of the singular values, a tail of norm `tail` may go. There are never more rows
  /// than columns in [C; rows]. After the last rows only `values` is right.
  void advance(const View<const T, 2>& rows, double tail, bool last) {
    const index_t columns = carried_.extent(1), count = state() + rows.extent(0);
    Array<T, 2> x({count, columns}, uninitialized);
    copy(View<const T, 2>(carried_.view()), x.view().slice(0, 0, state()));
    copy(rows, x.view().slice(0, state(), count));
    if (std::all_of(x.begin(), x.end(), [](const T& v) { return v == T{}; })) {
      carried_ = Array<T, 2>({0, columns});
      values_ = Array<R, 1>();
      return;
    }
    // X^T = Q F; the right singular vectors of F are the conjugate left ones of X.
    Array<T, 2> work = x;
    dense::qr_factor<T>(work.view().transposed());
    Array<T, 2> f({count, count});
    for (index_t c = 0; c < count; ++c) std::copy_n(&work(c, 0), c + 1, &f(c, 0));
    values_ = Array<R, 1>({count});
    if (last) return dense::singular_values<T>(f.view().transposed(), values_);
    Array<T, 2> vh({count, count}, uninitialized);
    dense::svd_right<T>(f.view().transposed(), values_, vh.view().transposed());

    index_t kept = count;
    for (double dropped = 0; kept > 0; --kept) {
      dropped += double(values_(kept - 1)) * double(values_(kept - 1));
      if (std::sqrt(dropped) > tail) break;
    }
    Array<T, 2> basis({kept, count}, uninitialized);
    for (index_t l = 0; l < kept; ++l) {
      for (index_t c = 0; c < count; ++c) basis(l, c) = conjugate(vh(c, l));
    }
    carried_ = Array<T, 2>({kept, columns}, uninitialized);
    dense::gemm<T>(Op::none, Op::none, T{1}, basis, x, T{0}, carried_);
  }

 private:
  Array<T, 2> carried_;
  Array<R, 1> values_;
};

}  // namespace structmat::verify
