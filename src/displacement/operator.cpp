#include "structmat/displacement/operator.hpp"

#include <string>

#include "core/instantiate.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
void require_fit(const char* operation, const char* side, const Operator<T>& a, index_t size,
                 const char* what) {
  const auto numbers = index_t(a.x.size());
  if (a.kind == OperatorKind::diagonal && numbers != size) {
    throw ShapeError(std::string(operation) + ": the diagonal on the " + side + " has " +
                     std::to_string(numbers) + " numbers, the matrix has " + std::to_string(size) +
                     " " + what);
  }
}

/// A X with A = Z_f: rows move down. `down` = false is Z_f^T: up.
template <Scalar T>
Array<T, 2> shift_rows(const View<const T, 2>& x, T corner, bool down) {
  const index_t m = x.extent(0), n = x.extent(1);
  Array<T, 2> y({m, n}, uninitialized);
  for (index_t i = 0; i < m; ++i) {
    const bool wraps = down ? i == 0 : i == m - 1;
    const index_t from = down ? (wraps ? m - 1 : i - 1) : (wraps ? 0 : i + 1);
    for (index_t j = 0; j < n; ++j) y(i, j) = wraps ? corner * x(from, j) : x(from, j);
  }
  return y;
}

}  // namespace

template <Scalar T>
Array<T, 2> apply_left(const Operator<T>& a, View<const T, 2> x) {
  require_fit("displacement::apply_left", "left", a, x.extent(0), "rows");
  if (a.kind != OperatorKind::diagonal) {
    return shift_rows(x, a.corner, a.kind == OperatorKind::shift);
  }
  Array<T, 2> y(x.extents(), uninitialized);
  for (index_t i = 0; i < x.extent(0); ++i) {
    for (index_t j = 0; j < x.extent(1); ++j) y(i, j) = a.x[i] * x(i, j);
  }
  return y;
}

template <Scalar T>
Array<T, 2> apply_right(View<const T, 2> x, const Operator<T>& b) {
  require_fit("displacement::apply_right", "right", b, x.extent(1), "columns");
  // X B = (B^T X^T)^T
  return to_array(apply_left(transposed(b), x.transposed()).view().transposed());
}

template <Scalar T>
Terms<T> terms(const Displacement<T>& d, View<const T, 2> x) {
  require_fit("displacement::displace", "left", d.left, x.extent(0), "rows");
  require_fit("displacement::displace", "right", d.right, x.extent(1), "columns");
  Array<T, 2> left = apply_left(d.left, x);
  if (d.kind == Kind::sylvester) return {std::move(left), apply_right(x, d.right)};
  return {to_array(x), apply_right(View<const T, 2>(left.view()), d.right)};
}

template <Scalar T>
Array<T, 2> displace(const Displacement<T>& d, View<const T, 2> x) {
  return difference(terms(d, x));
}

#define STRUCTMAT_INSTANTIATE(T)                                                              \
  template STRUCTMAT_EXPORT Array<T, 2> apply_left<T>(const Operator<T>&, View<const T, 2>);  \
  template STRUCTMAT_EXPORT Array<T, 2> apply_right<T>(View<const T, 2>, const Operator<T>&); \
  template STRUCTMAT_EXPORT Terms<T> terms<T>(const Displacement<T>&, View<const T, 2>);      \
  template STRUCTMAT_EXPORT Array<T, 2> displace<T>(const Displacement<T>&, View<const T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
