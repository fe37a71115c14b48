#include "structmat/lowrank/from_dense.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "dense/row_major.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::lowrank {
namespace {

constexpr auto operation = "lowrank::from_dense";

/// The smallest number of singular values to keep, and the norm of those that are dropped.
template <class R>
std::pair<index_t, double> kept(const View<const R, 1>& values, double largest_error,
                                index_t most) {
  index_t order = values.extent(0);
  double squares = 0;
  while (order > 0) {
    const double more = squares + std::pow(double(values(order - 1)), 2);
    if (order <= most && std::sqrt(more) > largest_error) break;
    squares = more;
    --order;
  }
  return {order, std::sqrt(squares)};
}

}  // namespace

template <Scalar T>
FromDense<T> from_dense(View<const T, 2> a, const FromDenseOptions& options) {
  const index_t m = a.extent(0), n = a.extent(1), least = std::min(m, n);
  const double eps = epsilon<T>;
  const double tolerance = options.tolerance.value_or(double(std::max(m, n)) * eps);
  if (!(tolerance >= 0)) {
    throw DomainError(std::string(operation) + ": the tolerance is " + std::to_string(tolerance) +
                      ", it must be at least 0");
  }
  const index_t most = options.order.value_or(least);
  if (most < 0) {
    throw DomainError(std::string(operation) + ": the order is " + std::to_string(most) +
                      ", it must be at least 0");
  }
  dense::require_finite(operation, a);

  FromDense<T> result;
  result.frobenius_norm = dense::frobenius_norm(a);
  result.rounding_bound = 4 * std::sqrt(double(least)) * eps * result.frobenius_norm;
  Array<real_t<T>, 1> values({least});
  Array<T, 2> vh_columns({n, least});  // V^H, column-major
  if (least > 0) dense::svd_right(a, values.view(), vh_columns.view().transposed());

  const auto [order, dropped] =
      kept<real_t<T>>(values.view(), tolerance * result.frobenius_norm, most);
  result.truncation_error = dropped;
  result.matrix = LowRank<T>(m, n, order);
  if (order == 0) return result;
  // M = (M V) V^H = (M conj(v)) v^T with v = conj(V): row j of vh_columns is column j of V^H.
  const View<T, 2> u = result.matrix.u.view().select(0, 0), v = result.matrix.v.view().select(0, 0);
  copy(vh_columns.view().slice(1, 0, order), v);
  const dense::RowMajor<T> rows(a), conjugated(v, true);
  dense::gemm<T>(Op::none, Op::none, T{1}, rows.view(), conjugated.view(), T{0}, u);
  return result;
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT FromDense<T> from_dense<T>(View<const T, 2>, const FromDenseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::lowrank
