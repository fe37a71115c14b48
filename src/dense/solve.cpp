#include "structmat/dense/solve.hpp"

#include <algorithm>
#include <climits>
#include <complex>
#include <string>
#include <vector>

#include <lapack.h>

#include "core/instantiate.hpp"
#include "structmat/core/array.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::dense {
namespace {

// The arguments are a type and a name part, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define STRUCTMAT_GESV(T, P)                                                    \
  lapack_int gesv(lapack_int n, lapack_int k, T* a, lapack_int* pivots, T* b) { \
    lapack_int info = 0;                                                        \
    LAPACK_##P##gesv(&n, &k, a, &n, pivots, b, &n, &info);                      \
    return info;                                                                \
  }
// NOLINTEND(bugprone-macro-parentheses)
STRUCTMAT_GESV(float, s)
STRUCTMAT_GESV(double, d)
STRUCTMAT_GESV(std::complex<float>, c)
STRUCTMAT_GESV(std::complex<double>, z)

}  // namespace

template <Scalar T>
PivotStatus solve(View<const T, 2> a, View<T, 2> b) {
  require_square("dense::solve", a);
  const index_t n = a.extent(0), k = b.extent(1);
  if (b.extent(0) != n) {
    throw ShapeError("dense::solve: A is " + std::to_string(n) + " x " + std::to_string(n) +
                     ", B has " + std::to_string(b.extent(0)) + " rows");
  }
  if (n == 0 || k == 0) return {};
  if (std::max(n, k) > INT_MAX) {
    throw Unsupported("dense::solve: extents exceed the 32-bit integers of this LAPACK");
  }
  // Column-major copies.
  Array<T, 2> factors({n, n}, uninitialized), solution({k, n}, uninitialized);
  copy(a, factors.view().transposed());
  copy(b, solution.view().transposed());
  std::vector<lapack_int> pivots(n);
  const lapack_int info = gesv(static_cast<lapack_int>(n), static_cast<lapack_int>(k),
                               factors.data(), pivots.data(), solution.data());
  if (info != 0) return {PivotStatus::Kind::zero, 0, info - 1, 0};
  copy(solution.view().transposed(), b);
  return {};
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT PivotStatus solve<T>(View<const T, 2>, View<T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
