#include "structmat/butterfly/from_dense.hpp"

#include <cmath>

#include "butterfly/monarch_stages.hpp"
#include "core/instantiate.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/lowrank/from_dense.hpp"

namespace structmat::monarch {
namespace {

constexpr auto operation = "monarch::from_dense";

void require_at_least(const char* name, index_t value, index_t least) {
  if (value < least) {
    throw DomainError(std::string(operation) + ": " + name + " is " + std::to_string(value) +
                      ", it must be at least " + std::to_string(least));
  }
}

void require_divides(const char* name, index_t blocks, index_t extent) {
  if (extent % blocks != 0) {
    throw ShapeError(std::string(operation) + ": the matrix has " + std::to_string(extent) + " " +
                     name + ", there are " + std::to_string(blocks) + " blocks of them");
  }
}

}  // namespace

template <Scalar T>
FromDense<T> from_dense(View<const T, 2> a, const FromDenseOptions& options) {
  const index_t k = options.column_blocks, l = options.row_blocks, d = options.order;
  require_at_least("the number of column blocks", k, 1);
  require_at_least("the number of row blocks", l, 1);
  require_at_least("the order", d, 0);
  require_divides("columns", k, a.extent(1));
  require_divides("rows", l, a.extent(0));
  dense::require_finite(operation, a);

  const index_t p = a.extent(1) / k, s = a.extent(0) / l;
  FromDense<T> result;
  result.frobenius_norm = dense::frobenius_norm(a);
  result.matrix = Monarch<T>({k, l * d, p}, {l, s, k * d});
  double squares = 0;
  for (index_t lambda = 0; lambda < l; ++lambda) {
    for (index_t kappa = 0; kappa < k; ++kappa) {
      const View<const T, 2> block = interleaved(a, lambda, l).slice(1, kappa * p, (kappa + 1) * p);
      const auto near = lowrank::from_dense(block, {.tolerance = 0, .order = d});
      squares += std::pow(near.truncation_error, 2);
      // The intermediate index of term delta: eta = lambda + l delta, rho = kappa d + delta.
      for (index_t delta = 0; delta < near.matrix.order(); ++delta) {
        copy(near.matrix.v.view().select(0, 0).select(1, delta),
             result.matrix.w1.view().select(0, 0).select(0, kappa).select(0, lambda + l * delta));
        copy(near.matrix.u.view().select(0, 0).select(1, delta),
             result.matrix.w2.view().select(0, 0).select(0, lambda).select(1, kappa * d + delta));
      }
    }
  }
  result.truncation_error = std::sqrt(squares);
  return result;
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT FromDense<T> from_dense<T>(View<const T, 2>, const FromDenseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::monarch
