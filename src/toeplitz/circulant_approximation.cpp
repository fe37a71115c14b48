#include "structmat/toeplitz/circulant_approximation.hpp"

#include "core/instantiate.hpp"

namespace structmat::toeplitz {
namespace {

/// column_l = formula(l, c_l, c_{l-n}) for l > 0.
template <Scalar T, class Formula>
Circulant<T> wrapped(const char* operation, const ToeplitzView<T>& m, const Formula& formula) {
  const ToeplitzView<T> t = checked(m, operation);
  const index_t n = t.rows();
  if (n != t.cols()) {
    throw ShapeError(std::string(operation) + ": the matrix has " + std::to_string(n) +
                     " rows and " + std::to_string(t.cols()) + " columns");
  }
  Circulant<T> c(n, t.batch());
  for (index_t b = 0; b < t.batch() && n > 0; ++b) {
    c.column(b, 0) = t.lags(b, n - 1);
    for (index_t l = 1; l < n; ++l) {
      c.column(b, l) = formula(l, t.lags(b, n - 1 + l), t.lags(b, l - 1));
    }
  }
  return c;
}

}  // namespace

template <Scalar T>
Circulant<T> strang_circulant(const ToeplitzView<T>& m) {
  const index_t n = m.rows();
  return wrapped<T>("toeplitz::strang_circulant", m,
                    [&](index_t l, const T& below, const T& above) -> T {
                      if (2 * l == n) return (below + above) / real_t<T>(2);
                      return 2 * l < n ? below : above;
                    });
}

template <Scalar T>
Circulant<T> chan_circulant(const ToeplitzView<T>& m) {
  const index_t n = m.rows();
  return wrapped<T>("toeplitz::chan_circulant", m,
                    [&](index_t l, const T& below, const T& above) -> T {
                      const real_t<T> share = static_cast<real_t<T>>(l) / static_cast<real_t<T>>(n);
                      return (1 - share) * below + share * above;
                    });
}

#define STRUCTMAT_INSTANTIATE(T)                                                      \
  template STRUCTMAT_EXPORT Circulant<T> strang_circulant<T>(const ToeplitzView<T>&); \
  template STRUCTMAT_EXPORT Circulant<T> chan_circulant<T>(const ToeplitzView<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
