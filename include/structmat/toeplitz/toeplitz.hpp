/// \file
/// Toeplitz matrices: entries depend on the lag i - j alone.
///
///   T_ij = c_{i-j},  0 <= i < m, 0 <= j < n
///
/// | part | shape              | what                                                          |
/// |------|--------------------|---------------------------------------------------------------|
/// | lags | (batch, m + n - 1) | c_{1-n}, ..., c_{m-1}: lags(b, l + n - 1) = c_l; none where m n = 0 |
///
/// A leading extent 1 is broadcast over the batch; views may broadcast with stride 0.
///
/// | operation                                        | cost, m = n            |
/// |--------------------------------------------------|------------------------|
/// | apply, transpose, adjoint, k right-hand sides    | O(n log n k)           |
/// | entry                                            | O(1)                   |
/// | to_dense                                         | O(n^2)                 |
///
/// | here                | LAPACK-style texts | scipy.linalg.toeplitz | convolution              |
/// |---------------------|--------------------|-----------------------|--------------------------|
/// | c_l, l >= 0         | first column t_l   | c                     | causal taps h_l          |
/// | c_l, l <= 0         | first row t_l      | r                     | anticausal taps          |
///
/// Source: Gray, "Toeplitz and circulant matrices: a review", Foundations and Trends in
/// Communications and Information Theory 2 (2006); Golub, Van Loan, "Matrix Computations", 4.7.
#pragma once

#include <algorithm>

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"

namespace structmat {

namespace detail {
/// Numbers on the m + n - 1 diagonals of an m x n matrix; none where it is empty.
constexpr index_t diagonals(index_t m, index_t n) {
  return m > 0 && n > 0 ? m + n - 1 : 0;
}
}  // namespace detail

/// Lags that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct ToeplitzView {
  using value_type = T;

  const ToeplitzView& view() const { return *this; }

  View<const T, 2, Space> lags{};
  index_t row_count = 0, col_count = 0;

  index_t batch() const { return lags.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return col_count; }

  /// T^T: c_l becomes c_{-l}.
  ToeplitzView transposed() const { return {lags.reversed(1), col_count, row_count}; }
};

namespace toeplitz {

/// The same matrix with a batch extent 1 broadcast to `batch`. Throws ShapeError, on behalf of
/// `operation`, when the number of lags is not m + n - 1.
template <Scalar T, class Space>
ToeplitzView<T, Space> checked(ToeplitzView<T, Space> m, const char* operation, index_t batch = 1);

}  // namespace toeplitz

/// A Toeplitz matrix that owns its lags (see the file's head).
template <Scalar T, class Space = space::host>
class Toeplitz : public OperatorMembers<Toeplitz<T, Space>, T> {
 public:
  using value_type = T;

  Toeplitz() = default;

  /// Zero lags. m, n, batch >= 0; throws ShapeError.
  Toeplitz(index_t m, index_t n, index_t batch = 1)
      : lags({batch, detail::diagonals(m, n)}), row_count(m), col_count(n) {}

  /// From the first column (m) and the first row (n), of one matrix or of a batch of them,
  /// (batch, m) and (batch, n). Throws ShapeError when one is empty and the other is not or the
  /// batches differ, DomainError when the first elements differ.
  Toeplitz(View<const T, 1> column, View<const T, 1> row) requires std::same_as<Space, space::host>;
  Toeplitz(View<const T, 2> column, View<const T, 2> row) requires std::same_as<Space, space::host>;

  Array<T, 2, Space> lags;
  index_t row_count = 0, col_count = 0;

  index_t batch() const { return lags.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return col_count; }
  index_t stored() const { return lags.size(); }

  ToeplitzView<T, Space> view() const { return {lags.view(), row_count, col_count}; }
};

namespace toeplitz {

/// The Hermitian (real: symmetric) Toeplitz matrix with this first column: c_{-l} = conj(c_l).
/// column: (n) or (batch, n). Throws DomainError when a c_0 is not real.
template <Scalar T>
Toeplitz<T> hermitian(View<const T, 2> column);
template <Scalar T>
Toeplitz<T> hermitian(View<const T, 1> column) {
  return hermitian(View<const T, 2>(column.data(), {1, column.extent(0)}, {0, column.stride(0)}));
}

}  // namespace toeplitz

/// A copy in device memory, and back.
template <Scalar T>
Toeplitz<T, space::cuda> to_device(const Toeplitz<T>& m) {
  Toeplitz<T, space::cuda> there;
  there.lags = to_device(m.lags);
  there.row_count = m.row_count;
  there.col_count = m.col_count;
  return there;
}
template <Scalar T>
Toeplitz<T> to_host(const Toeplitz<T, space::cuda>& m) {
  Toeplitz<T> here;
  here.lags = to_host(m.lags);
  here.row_count = m.row_count;
  here.col_count = m.col_count;
  return here;
}

/// T_ij of one batch entry. Cost: O(1). Throws ShapeError.
template <Scalar T>
T entry(const ToeplitzView<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := T. dense: (batch, m, n) out, any strides. Throws ShapeError.
template <Scalar T>
void to_dense(const ToeplitzView<T>& m, View<T, 3> dense);

/// The same on a device: enqueued on e.stream, neither allocated nor synchronised; dense: any strides but
/// 0. Cost: m n numbers written; exact. Throws ShapeError, Unsupported (broadcast result), NotAvailable,
/// BackendError.
template <Scalar T>
void to_dense(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);

}  // namespace structmat
