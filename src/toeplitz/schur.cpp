#include "core/instantiate.hpp"
#include "toeplitz/predictor.hpp"

namespace structmat::toeplitz {
namespace {

template <Scalar T>
STRUCTMAT_CLONES void recursion(Planes<T> u, const Planes<T>& v, index_t n, Pivots& pivots,
                                const Planes<T>& x, Planes<T> y) {
  for (index_t k = 0; k + 1 < n; ++k) {
    T rho;
    if (!pivots.next(u.get(0), std::real(v.get(0)), rho)) return;
    reflect(rho, u, v, n - 1 - k);
    reflect(rho, x, y, k + 2);
    u = u + 1;
    y = y + (-1);
  }
}

}  // namespace

template <Scalar T>
void schur(const T* lags, index_t n, Pivots& pivots, T* a) {
  Planar<T> u(n), v(n), polynomial(n), reversed(2 * n);
  for (index_t i = 0; i + 1 < n; ++i) {
    u.begin().set(i, lags[i + 1]);
    v.begin().set(i, lags[i]);
  }
  const Planes<T> x = polynomial.begin(), y = reversed.begin() + n;
  x.set(0, T(1));
  y.set(1, T(1));
  recursion(u.begin(), v.begin(), n, pivots, x, y);
  for (index_t i = 0; i < n; ++i) a[i] = x.get(i);
}

#define STRUCTMAT_INSTANTIATE(T) template void schur(const T*, index_t, Pivots&, T*);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
