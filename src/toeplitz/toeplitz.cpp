#include "structmat/toeplitz/toeplitz.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "core/write_entries.hpp"
#include "structmat/core/shape.hpp"

namespace structmat {

namespace toeplitz {

template <Scalar T, class Space>
ToeplitzView<T, Space> checked(ToeplitzView<T, Space> m, const char* operation, index_t batch) {
  detail::Shape shape(operation, batch);
  shape.require("lags", m.lags, {detail::diagonals(m.rows(), m.cols())});
  return {m.lags.broadcast(0, shape.batch()), m.row_count, m.col_count};
}

template <Scalar T>
Toeplitz<T> hermitian(View<const T, 2> column) {
  const index_t batch = column.extent(0), n = column.extent(1);
  Array<T, 2> row({batch, n}, uninitialized);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t j = 0; j < n; ++j) row(b, j) = conjugate(column(b, j));
    if (n > 0 && std::imag(column(b, 0)) != 0) {
      throw DomainError("toeplitz::hermitian: c_0 of batch entry " + std::to_string(b) +
                        " has the imaginary part " + std::to_string(std::imag(column(b, 0))) +
                        ", the diagonal of a Hermitian matrix is real");
    }
  }
  return Toeplitz<T>(column, row.view());
}

}  // namespace toeplitz

template <Scalar T, class Space>
Toeplitz<T, Space>::Toeplitz(View<const T, 2> column,
                             View<const T, 2> row) requires std::same_as<Space, space::host>
    : Toeplitz(column.extent(1), row.extent(1), column.extent(0)) {
  const auto number = [](index_t n) { return std::to_string(n); };
  if (column.extent(0) != row.extent(0)) {
    throw ShapeError("toeplitz: the column has batch " + number(column.extent(0)) +
                     ", the row has " + number(row.extent(0)));
  }
  if ((rows() == 0) != (cols() == 0)) {
    throw ShapeError("toeplitz: the column has " + number(rows()) + " elements, the row has " +
                     number(cols()) + ", but they share one");
  }
  if (rows() == 0) return;
  const index_t n = cols();
  for (index_t b = 0; b < batch(); ++b) {
    const T c = column(b, 0), r = row(b, 0);
    if (c != r && !(c != c && r != r)) {
      throw DomainError("toeplitz: column and row of batch entry " + number(b) +
                        " begin with different numbers: c_0 is one element of the matrix");
    }
    for (index_t j = 0; j < n; ++j) lags(b, n - 1 - j) = row(b, j);
    for (index_t i = 0; i < rows(); ++i) lags(b, n - 1 + i) = column(b, i);
  }
}

template <Scalar T, class Space>
Toeplitz<T, Space>::Toeplitz(View<const T, 1> column,
                             View<const T, 1> row) requires std::same_as<Space, space::host>
    : Toeplitz(View<const T, 2>(column.data(), {1, column.extent(0)}, {0, column.stride(0)}),
               View<const T, 2>(row.data(), {1, row.extent(0)}, {0, row.stride(0)})) {}

template <Scalar T>
T entry(const ToeplitzView<T>& m, index_t i, index_t j, index_t batch) {
  toeplitz::checked(m, "toeplitz::entry");
  detail::require_index("toeplitz::entry", {m.batch(), m.rows(), m.cols()}, {batch, i, j});
  return m.lags(batch, i - j + m.cols() - 1);
}

template <Scalar T>
void to_dense(const ToeplitzView<T>& m, View<T, 3> dense) {
  toeplitz::checked(m, "toeplitz::to_dense");
  const index_t n = m.cols();
  detail::write_entries("toeplitz::to_dense", dense, {m.batch(), m.rows(), n},
                        [&](index_t b, index_t i, index_t j) { return m.lags(b, i - j + n - 1); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                            \
  template STRUCTMAT_EXPORT ToeplitzView<T> toeplitz::checked(ToeplitzView<T>, const char*, \
                                                              index_t);                     \
  template STRUCTMAT_EXPORT ToeplitzView<T, space::cuda> toeplitz::checked(                 \
      ToeplitzView<T, space::cuda>, const char*, index_t);                                  \
  template STRUCTMAT_EXPORT Toeplitz<T> toeplitz::hermitian(View<const T, 2>);              \
  template STRUCTMAT_EXPORT Toeplitz<T>::Toeplitz(View<const T, 2>, View<const T, 2>);      \
  template STRUCTMAT_EXPORT Toeplitz<T>::Toeplitz(View<const T, 1>, View<const T, 1>);      \
  template STRUCTMAT_EXPORT T entry(const ToeplitzView<T>&, index_t, index_t, index_t);     \
  template STRUCTMAT_EXPORT void to_dense(const ToeplitzView<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
