/// \file
/// The sweep over block columns of one dense strictly lower triangle that from_dense and verify
/// share.
///
/// Before block i, the block M(o_i:n, 0:o_i) is carried as C W with W of orthonormal rows. The
/// first rows of C are the generator P_i. The rest of C beside the new columns,
///   X = [C without its first rows, M(o_{i+1}:n, o_i:o_{i+1})] = U S V^H,
/// gives the next one: C' = X V, [A_i, Q_i^T] = V^H. Only the R factor of X and the SVD of that are
/// needed.
///
/// Source: Chandrasekaran et al. (2005), section 3.
#pragma once

#include <algorithm>
#include <cmath>

#include "structmat/core/array.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/quasiseparable/from_dense.hpp"

namespace structmat::quasiseparable {

/// How much of X may go.
struct Truncation {
  double tail = 0;           ///< sqrt of the sum of squared singular values that are dropped
  index_t most = INT64_MAX;  ///< never keep more than this many
  bool by_row = false;  ///< rows of X count as if they had norm 1: every later block of rows is
                        ///< then exact to `tail` relative to its own norm
};

template <Scalar T>
class TriangleSweep {
 public:
  using R = real_t<T>;

  /// m: square; the strictly lower triangle is read.
  explicit TriangleSweep(View<const T, 2> m) : m_(m), carried_({0, m.extent(0)}) {}

  /// Rows of W: the size of the state that enters the next block.
  index_t state() const { return state_; }

  /// P of the next block of `size` rows starting at `begin`: (size, state).
  Array<T, 2> rows(index_t begin, index_t size) const {
    Array<T, 2> p({size, state_}, uninitialized);
    copy(View<const T, 2>(
             carried_.view().slice(0, 0, state_).slice(1, begin, begin + size).transposed()),
         p.view());
    return p;
  }

  /// Goes past the block of `size` rows starting at `begin`.
  void advance(index_t begin, index_t size, const Truncation& truncation) {
    const index_t n = m_.extent(0), end = begin + size, rest = n - end;
    const index_t columns = state_ + size;
    // X^T, row-major: the carried columns, then the new ones.
    Array<T, 2> x({columns, rest}, uninitialized);
    copy(View<const T, 2>(carried_.view().slice(0, 0, state_).slice(1, end, n)),
         x.view().slice(0, 0, state_));
    copy_transposed(m_.slice(0, end, n).slice(1, begin, end), x.view().slice(0, state_, columns));

    // A triangle of zeros, as triangular matrices have one, is passed without a factorisation.
    const bool zero = std::all_of(x.begin(), x.end(), [](const T& v) { return v == T{}; });
    const index_t smaller = zero ? 0 : std::min(rest, columns);
    Array<R, 1> values({smaller});
    Array<T, 2> vh({columns, smaller});  // V^H in column-major order
    if (!zero) {
      Array<T, 2> work = x;
      if (truncation.by_row) normalise_columns(work.view());
      reduce(work.view().transposed(), values, vh.view().transposed());
    }

    kept_ = smaller;
    double dropped = 0;
    while (kept_ > 0) {
      const double next = dropped + double(values(kept_ - 1)) * double(values(kept_ - 1));
      if (kept_ <= truncation.most && std::sqrt(next) > truncation.tail) break;
      dropped = next;
      --kept_;
    }
    dropped_squares_ += dropped;
    double norm = 0;
    for (const R v : values) norm += double(v) * double(v);
    norm_ = std::sqrt(norm);

    basis_ = Array<T, 2>({kept_, columns}, uninitialized);
    Array<T, 2> conjugated({kept_, columns}, uninitialized);
    for (index_t l = 0; l < kept_; ++l) {
      for (index_t c = 0; c < columns; ++c) {
        basis_(l, c) = vh(c, l);
        conjugated(l, c) = conjugate(vh(c, l));
      }
    }
    // C'^T = conj(V^H) X^T, with rows counted from row 0 of m so that slices need no offset.
    Array<T, 2> next({kept_, n}, uninitialized);
    dense::gemm<T>(Op::none, Op::none, T{1}, conjugated, x, T{0}, next.view().slice(1, end, n));
    carried_ = std::move(next);
    values_ = std::move(values);
    state_ = kept_;
    end_ = end;
  }

  /// [A, Q^T] of the block just passed: (state, size + state before).
  const Array<T, 2>& basis() const { return basis_; }

  /// F with F^H F = X^H X up to what was dropped: (state, size + state before). Rows of M below the
  /// block just passed have the singular values of F, column for column.
  Array<T, 2> tail_factor(bool by_row) const {
    Array<T, 2> f = basis_;
    if (!by_row) {
      for (index_t l = 0; l < state_; ++l) {
        for (index_t c = 0; c < f.extent(1); ++c) f(l, c) *= values_(l);
      }
      return f;
    }
    // The singular values belong to the normalised rows; C' itself has the right ones.
    const index_t n = m_.extent(0), rest = n - end_;
    Array<T, 2> work = to_array(carried_.view().slice(1, end_, n));
    dense::qr_factor<T>(work.view().transposed());
    Array<T, 2> r({std::min(rest, state_), state_});
    for (index_t i = 0; i < r.extent(0); ++i) {
      for (index_t c = i; c < state_; ++c) r(i, c) = work(c, i);
    }
    Array<T, 2> product({r.extent(0), f.extent(1)}, uninitialized);
    dense::gemm<T>(Op::none, Op::none, T{1}, r, f, T{0}, product);
    return product;
  }

  /// Sum of the squares of all dropped singular values.
  double dropped_squares() const { return dropped_squares_; }
  /// ||X||_F of the last step.
  double norm() const { return norm_; }

 private:
  /// to := from^T in tiles, since one of the two is read or written across its rows.
  static void copy_transposed(const View<const T, 2>& from, const View<T, 2>& to) {
    constexpr index_t tile = 64;
    for (index_t i0 = 0; i0 < from.extent(0); i0 += tile) {
      const index_t i1 = std::min(i0 + tile, from.extent(0));
      for (index_t j = 0; j < from.extent(1); ++j) {
        for (index_t i = i0; i < i1; ++i) to(j, i) = from(i, j);
      }
    }
  }

  static void normalise_columns(const View<T, 2>& xt) {
    for (index_t i = 0; i < xt.extent(1); ++i) {
      R largest = 0;
      for (index_t c = 0; c < xt.extent(0); ++c) largest = std::max(largest, std::abs(xt(c, i)));
      if (largest == 0) continue;
      R sum = 0;
      for (index_t c = 0; c < xt.extent(0); ++c) {
        const R v = std::abs(xt(c, i)) / largest;
        sum += v * v;
      }
      const R root = std::sqrt(sum);
      for (index_t c = 0; c < xt.extent(0); ++c) xt(c, i) = xt(c, i) / largest / root;
    }
  }

  /// Singular values and right singular vectors of x (overwritten), through its R factor if it is
  /// tall.
  static void reduce(const View<T, 2>& x, Array<R, 1>& values, const View<T, 2>& vh) {
    const index_t rows = x.extent(0), columns = x.extent(1);
    if (rows <= columns) return dense::svd_right<T>(x, values, vh);
    dense::qr_factor<T>(x);
    Array<T, 2> r({columns, columns});  // column-major when transposed
    for (index_t c = 0; c < columns; ++c) {
      for (index_t i = 0; i <= c; ++i) r(c, i) = x(i, c);
    }
    dense::svd_right<T>(r.view().transposed(), values, vh);
  }

  View<const T, 2> m_;
  Array<T, 2> carried_;  // C^T, (state, n): columns from the end of the last block on
  Array<T, 2> basis_;
  Array<R, 1> values_;
  index_t state_ = 0, kept_ = 0, end_ = 0;
  double dropped_squares_ = 0, norm_ = 0;
};

/// Rows of the next block: about the order so far, which balances the work per column, (r + m)^2 /
/// m, and the storage, 4 r + 2 r^2 / m + m.
inline index_t next_block(index_t order, index_t left) {
  constexpr index_t least = 8, most = 256;
  return std::min(left, std::clamp(order, least, most));
}

}  // namespace structmat::quasiseparable
