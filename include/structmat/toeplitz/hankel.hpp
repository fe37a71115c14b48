/// \file
/// Hankel matrices: entries depend on the sum i + j alone.
///
///   H_ij = c_{i+j},  0 <= i < m, 0 <= j < n
///
/// | part           | shape              | what                                     |
/// |----------------|--------------------|------------------------------------------|
/// | anti_diagonals | (batch, m + n - 1) | c_0, ..., c_{m+n-2}; none where m n = 0  |
///
/// H with its columns in the opposite order is a Toeplitz matrix, (H J)_ij = c_{i + n - 1 - j}, with
/// these numbers as its lags: all operations go that way.
#pragma once

#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat {

/// Anti-diagonals that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct HankelView {
  using value_type = T;

  const HankelView& view() const { return *this; }

  View<const T, 2, Space> anti_diagonals{};
  index_t row_count = 0, col_count = 0;

  index_t batch() const { return anti_diagonals.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return col_count; }
};

namespace toeplitz {

/// H J, J the exchange of columns j and n - 1 - j: the same numbers, without a copy.
template <Scalar T, class Space>
ToeplitzView<T, Space> from_hankel(const HankelView<T, Space>& h) {
  return {h.anti_diagonals, h.row_count, h.col_count};
}

}  // namespace toeplitz

namespace hankel {

/// T J, J the exchange of columns j and n - 1 - j: the same numbers, without a copy.
template <Scalar T, class Space>
HankelView<T, Space> from_toeplitz(const ToeplitzView<T, Space>& t) {
  return {t.lags, t.row_count, t.col_count};
}

/// The same matrix with a batch extent 1 broadcast to `batch`. Throws ShapeError, on behalf of
/// `operation`, when the number of anti-diagonals is not m + n - 1.
template <Scalar T, class Space>
HankelView<T, Space> checked(HankelView<T, Space> m, const char* operation, index_t batch = 1);

}  // namespace hankel

/// A Hankel matrix that owns its anti-diagonals (see the file's head).
template <Scalar T, class Space = space::host>
class Hankel : public OperatorMembers<Hankel<T, Space>, T> {
 public:
  using value_type = T;

  Hankel() = default;

  /// Zero. m, n, batch >= 0; throws ShapeError.
  Hankel(index_t m, index_t n, index_t batch = 1)
      : anti_diagonals({batch, detail::diagonals(m, n)}), row_count(m), col_count(n) {}

  /// From the first column (m) and the last row (n), of one matrix or of a batch of them, (batch, m)
  /// and (batch, n). Throws ShapeError when one is empty and the other is not or the batches differ,
  /// DomainError when the last element of the column is not the first of the row.
  Hankel(View<const T, 1> column,
         View<const T, 1> last_row) requires std::same_as<Space, space::host>;
  Hankel(View<const T, 2> column,
         View<const T, 2> last_row) requires std::same_as<Space, space::host>;

  Array<T, 2, Space> anti_diagonals;
  index_t row_count = 0, col_count = 0;

  index_t batch() const { return anti_diagonals.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return col_count; }
  index_t stored() const { return anti_diagonals.size(); }

  HankelView<T, Space> view() const { return {anti_diagonals.view(), row_count, col_count}; }
};

/// A copy in device memory, and back.
template <Scalar T>
Hankel<T, space::cuda> to_device(const Hankel<T>& m) {
  Hankel<T, space::cuda> there;
  there.anti_diagonals = to_device(m.anti_diagonals);
  there.row_count = m.row_count;
  there.col_count = m.col_count;
  return there;
}
template <Scalar T>
Hankel<T> to_host(const Hankel<T, space::cuda>& m) {
  Hankel<T> here;
  here.anti_diagonals = to_host(m.anti_diagonals);
  here.row_count = m.row_count;
  here.col_count = m.col_count;
  return here;
}

/// H_ij of one batch entry. Cost: O(1). Throws ShapeError.
template <Scalar T>
T entry(const HankelView<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := H. dense: (batch, m, n) out, any strides. Throws ShapeError.
template <Scalar T>
void to_dense(const HankelView<T>& m, View<T, 3> dense);

/// The same on a device: as to_dense of a Toeplitz matrix.
template <Scalar T>
void to_dense(const exec::cuda& e, const HankelView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);

}  // namespace structmat
