#include "structmat/dense/solve.hpp"

#include <string>
#include <vector>

#include "core/instantiate.hpp"
#include "structmat/core/array.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::dense {

template <Scalar T>
PivotStatus solve(View<const T, 2> a, View<T, 2> b) {
  require_square("dense::solve", a);
  const index_t n = a.extent(0), k = b.extent(1);
  if (b.extent(0) != n) {
    throw ShapeError("dense::solve: A is " + std::to_string(n) + " x " + std::to_string(n) +
                     ", B has " + std::to_string(b.extent(0)) + " rows");
  }
  // Column-major copies.
  Array<T, 2> factors({n, n}, uninitialized), solution({k, n}, uninitialized);
  copy(a, factors.view().transposed());
  copy(View<const T, 2>(b), solution.view().transposed());
  std::vector<int> pivots;
  lu_factor<T>(factors.view().transposed(), pivots);
  for (index_t i = 0; i < n; ++i) {
    if (factors(i, i) == T{}) return {PivotStatus::Kind::zero, 0, i, 0};
  }
  lu_solve<T>(Op::none, std::as_const(factors).view().transposed(), pivots,
              solution.view().transposed());
  copy(std::as_const(solution).view().transposed(), b);
  return {};
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT PivotStatus solve<T>(View<const T, 2>, View<T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
