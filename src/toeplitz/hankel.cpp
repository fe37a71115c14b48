#include "structmat/toeplitz/hankel.hpp"

#include "core/instantiate.hpp"
#include "core/write_entries.hpp"
#include "structmat/core/shape.hpp"

namespace structmat {

namespace hankel {

template <Scalar T, class Space>
HankelView<T, Space> checked(HankelView<T, Space> m, const char* operation, index_t batch) {
  detail::Shape shape(operation, batch);
  shape.require("anti_diagonals", m.anti_diagonals, {detail::diagonals(m.rows(), m.cols())});
  return {m.anti_diagonals.broadcast(0, shape.batch()), m.row_count, m.col_count};
}

}  // namespace hankel

template <Scalar T, class Space>
Hankel<T, Space>::Hankel(View<const T, 2> column,
                         View<const T, 2> last_row) requires std::same_as<Space, space::host>
    : Hankel(column.extent(1), last_row.extent(1), column.extent(0)) {
  const auto number = [](index_t n) { return std::to_string(n); };
  if (column.extent(0) != last_row.extent(0)) {
    throw ShapeError("hankel: the column has batch " + number(column.extent(0)) +
                     ", the last row has " + number(last_row.extent(0)));
  }
  if ((rows() == 0) != (cols() == 0)) {
    throw ShapeError("hankel: the column has " + number(rows()) + " elements, the last row has " +
                     number(cols()) + ", but they share one");
  }
  if (rows() == 0) return;
  const index_t m = rows();
  for (index_t b = 0; b < batch(); ++b) {
    const T end = column(b, m - 1), begin = last_row(b, 0);
    if (end != begin && !(end != end && begin != begin)) {
      throw DomainError("hankel: the column of batch entry " + number(b) +
                        " ends with another number than its last row begins with: c_" +
                        number(m - 1) + " is one element of the matrix");
    }
    for (index_t i = 0; i < m; ++i) anti_diagonals(b, i) = column(b, i);
    for (index_t j = 0; j < cols(); ++j) anti_diagonals(b, m - 1 + j) = last_row(b, j);
  }
}

template <Scalar T, class Space>
Hankel<T, Space>::Hankel(View<const T, 1> column,
                         View<const T, 1> last_row) requires std::same_as<Space, space::host>
    : Hankel(View<const T, 2>(column.data(), {1, column.extent(0)}, {0, column.stride(0)}),
             View<const T, 2>(last_row.data(), {1, last_row.extent(0)}, {0, last_row.stride(0)})) {}

template <Scalar T>
T entry(const HankelView<T>& m, index_t i, index_t j, index_t batch) {
  hankel::checked(m, "hankel::entry");
  detail::require_index("hankel::entry", {m.batch(), m.rows(), m.cols()}, {batch, i, j});
  return m.anti_diagonals(batch, i + j);
}

template <Scalar T>
void to_dense(const HankelView<T>& m, View<T, 3> dense) {
  hankel::checked(m, "hankel::to_dense");
  detail::write_entries(
      "hankel::to_dense", dense, {m.batch(), m.rows(), m.cols()},
      [&](index_t b, index_t i, index_t j) { return m.anti_diagonals(b, i + j); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT HankelView<T> hankel::checked(HankelView<T>, const char*, index_t);    \
  template STRUCTMAT_EXPORT HankelView<T, space::cuda> hankel::checked(HankelView<T, space::cuda>, \
                                                                       const char*, index_t);      \
  template STRUCTMAT_EXPORT Hankel<T>::Hankel(View<const T, 2>, View<const T, 2>);                 \
  template STRUCTMAT_EXPORT Hankel<T>::Hankel(View<const T, 1>, View<const T, 1>);                 \
  template STRUCTMAT_EXPORT T entry(const HankelView<T>&, index_t, index_t, index_t);              \
  template STRUCTMAT_EXPORT void to_dense(const HankelView<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
