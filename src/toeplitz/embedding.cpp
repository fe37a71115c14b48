#include "structmat/toeplitz/embedding.hpp"

#include <string>

#include "core/instantiate.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat {
namespace {

/// lags of the leading m x n part of a matrix with first column c and c_{-l} = sign c_{size-l}.
template <Scalar T>
Toeplitz<T> leading(const char* operation, const View<const T, 2>& column, T sign, index_t m,
                    index_t n) {
  const index_t size = column.extent(1);
  if (m > size || n > size) {
    throw ShapeError(std::string(operation) + ": the leading part is " + std::to_string(m) + " x " +
                     std::to_string(n) + ", the matrix has size " + std::to_string(size));
  }
  Toeplitz<T> t(m, n, column.extent(0));
  if (m == 0 || n == 0) return t;
  for (index_t b = 0; b < t.batch(); ++b) {
    for (index_t i = 0; i < m; ++i) t.lags(b, n - 1 + i) = column(b, i);
    for (index_t j = 1; j < n; ++j) t.lags(b, n - 1 - j) = sign * column(b, size - j);
  }
  return t;
}

}  // namespace

template <Scalar T>
Circulant<T> circulant::from_toeplitz(const ToeplitzView<T>& t, index_t size) {
  constexpr auto operation = "circulant::from_toeplitz";
  toeplitz::checked(t, operation);
  const index_t m = t.rows(), n = t.cols(), least = detail::diagonals(m, n);
  if (size == 0 && least > 0) size = fft::good_length(least);
  if (size < least) {
    throw ShapeError(std::string(operation) + ": size " + std::to_string(size) + " for " +
                     std::to_string(least) + " diagonals");
  }
  Circulant<T> c(size, t.batch());
  for (index_t b = 0; least > 0 && b < t.batch(); ++b) {
    for (index_t i = 0; i < m; ++i) c.column(b, i) = t.lags(b, n - 1 + i);
    for (index_t j = 1; j < n; ++j) c.column(b, size - j) = t.lags(b, n - 1 - j);
  }
  return c;
}

template <Scalar T>
Toeplitz<T> toeplitz::from_circulant(const CirculantView<T>& c, index_t m, index_t n) {
  return leading("toeplitz::from_circulant", c.column, T{1}, m, n);
}

template <Scalar T>
Toeplitz<T> toeplitz::from_skew_circulant(const SkewCirculantView<T>& s, index_t m, index_t n) {
  return leading("toeplitz::from_skew_circulant", s.column, T{-1}, m, n);
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template STRUCTMAT_EXPORT Circulant<T> circulant::from_toeplitz<T>(const ToeplitzView<T>&, \
                                                                     index_t);               \
  template STRUCTMAT_EXPORT Toeplitz<T> toeplitz::from_circulant<T>(const CirculantView<T>&, \
                                                                    index_t, index_t);       \
  template STRUCTMAT_EXPORT Toeplitz<T> toeplitz::from_skew_circulant<T>(                    \
      const SkewCirculantView<T>&, index_t, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
