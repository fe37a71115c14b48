#include "core/instantiate.hpp"
#include "toeplitz/predictor.hpp"

namespace structmat::toeplitz {
namespace {

/// a from x, z a^ from y downward: in place of a shift, y begins one place earlier at every step.
template <Scalar T>
STRUCTMAT_CLONES void recursion(const Planes<T>& lags, index_t n, Pivots& pivots,
                                const Planes<T>& x, Planes<T> y) {
  for (index_t k = 0; k + 1 < n; ++k) {
    const T sum = inner_product(lags + 1, y + 1, k + 1);
    T rho;
    if (!pivots.next(sum, static_cast<real_t<T>>(pivots.last()), rho)) return;
    reflect(rho, x, y, k + 2);
    y = y + (-1);
  }
}

}  // namespace

template <Scalar T>
void levinson(const T* lags, index_t n, Pivots& pivots, T* a) {
  Planar<T> c(n), polynomial(n), reversed(2 * n);
  for (index_t i = 0; i < n; ++i) c.begin().set(i, lags[i]);
  const Planes<T> x = polynomial.begin(), y = reversed.begin() + n;
  x.set(0, T(1));
  y.set(1, T(1));
  recursion(c.begin(), n, pivots, x, y);
  for (index_t i = 0; i < n; ++i) a[i] = x.get(i);
}

#define STRUCTMAT_INSTANTIATE(T) template void levinson(const T*, index_t, Pivots&, T*);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
