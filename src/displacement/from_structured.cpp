#include "structmat/displacement/from_structured.hpp"

#include <cmath>
#include <string>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "displacement/power.hpp"
#include "structmat/displacement/convert.hpp"

namespace structmat::displacement {
namespace {

void require_batch(const char* operation, index_t batch, index_t count) {
  if (batch >= 0 && batch < count) return;
  throw ShapeError(std::string(operation) + ": index " + std::to_string(batch) + " of a batch of " +
                   std::to_string(count));
}

template <Scalar T>
Generators<T> zeros(Displacement<T> d, index_t m, index_t n, index_t r) {
  return {std::move(d), Array<T, 2>({m, r}), Array<T, 2>({n, r})};
}

template <Scalar T>
std::vector<T> to_vector(const View<const T, 1>& v) {
  std::vector<T> numbers(v.extent(0));
  for (index_t i = 0; i < v.extent(0); ++i) numbers[i] = v(i);
  return numbers;
}

}  // namespace

template <Scalar T>
Generators<T> from_toeplitz(const ToeplitzView<T>& t, Corners<std::type_identity_t<T>> corners,
                            index_t batch) {
  constexpr auto operation = "displacement::from_toeplitz";
  toeplitz::checked(t, operation);
  require_batch(operation, batch, t.batch());
  const index_t m = t.rows(), n = t.cols();
  auto x = zeros<T>({Kind::sylvester, shift<T>(corners.left), shift<T>(corners.right)}, m, n, 2);
  if (m == 0 || n == 0) return x;
  const auto lag = [&](index_t l) { return t.lags(batch, l + n - 1); };
  x.g(0, 0) = T{1};
  for (index_t j = 0; j < n - 1; ++j) {
    x.h(j, 0) = product(corners.left, lag(m - 1 - j)) - lag(-j - 1);
  }
  x.h(n - 1, 0) = product(corners.left, lag(m - n)) - product(corners.right, lag(0));
  for (index_t i = 1; i < m; ++i) x.g(i, 1) = lag(i - n) - product(corners.right, lag(i));
  x.h(n - 1, 1) = T{1};
  return x;
}

template <Scalar T>
Generators<T> from_hankel(const HankelView<T>& h, Corners<std::type_identity_t<T>> corners,
                          index_t batch) {
  hankel::checked(h, "displacement::from_hankel");
  require_batch("displacement::from_hankel", batch, h.batch());
  return reverse_columns(from_toeplitz(toeplitz::from_hankel(h), corners, batch));
}

template <Scalar T>
Generators<T> from_circulant(const CirculantView<T>& c, std::type_identity_t<T> right,
                             index_t batch) {
  require_batch("displacement::from_circulant", batch, c.batch());
  const index_t n = c.size();
  auto x = zeros<T>({Kind::sylvester, shift<T>(1), shift<T>(right)}, n, n, 1);
  for (index_t i = 0; i < n; ++i) x.g(i, 0) = product(T{1} - right, c.column(batch, i));
  if (n > 0) x.h(n - 1, 0) = T{1};
  return x;
}

template <Scalar T>
Generators<T> from_skew_circulant(const SkewCirculantView<T>& s, std::type_identity_t<T> left,
                                  index_t batch) {
  require_batch("displacement::from_skew_circulant", batch, s.batch());
  const index_t n = s.size();
  auto x = zeros<T>({Kind::sylvester, shift<T>(left), shift<T>(-1)}, n, n, 1);
  for (index_t j = 0; j < n; ++j) x.h(j, 0) = product(T{1} + left, s.column(batch, n - 1 - j));
  if (n > 0) x.g(0, 0) = T{1};
  return x;
}

template <Scalar T>
Generators<T> from_vandermonde(const VandermondeView<T>& v, std::type_identity_t<T> corner,
                               index_t batch) {
  constexpr auto operation = "displacement::from_vandermonde";
  if (v.cols() < 0) {
    throw ShapeError(std::string(operation) + ": the matrix has " + std::to_string(v.cols()) +
                     " columns");
  }
  require_batch(operation, batch, v.batch());
  const index_t m = v.rows(), n = v.cols();
  auto x = zeros<T>(vandermonde<T>(to_vector(v.x.select(0, batch)), corner), m, n, 1);
  if (n == 0) return x;
  for (index_t i = 0; i < m; ++i) {
    x.g(i, 0) = power(v.x(batch, i), n) - corner;
    if (!std::isfinite(std::abs(x.g(i, 0)))) {
      throw DomainError(std::string(operation) + ": power " + std::to_string(n) + " of node " +
                        std::to_string(i) + " is not finite");
    }
  }
  x.h(n - 1, 0) = T{1};
  return x;
}

template <Scalar T>
Generators<T> from_cauchy(const CauchyView<T>& c, index_t batch) {
  require_batch("displacement::from_cauchy", batch, std::min(c.s.extent(0), c.t.extent(0)));
  auto x = zeros<T>(cauchy<T>(to_vector(c.s.select(0, batch)), to_vector(c.t.select(0, batch))),
                    c.rows(), c.cols(), 1);
  for (T& v : x.g) v = T{1};
  for (T& v : x.h) v = T{1};
  return x;
}

template <Scalar T>
Generators<T> from_cauchy_like(const CauchyLikeView<T>& c, index_t batch) {
  for (const index_t count : {c.s.extent(0), c.t.extent(0), c.g.extent(0), c.h.extent(0)}) {
    require_batch("displacement::from_cauchy_like", batch, count);
  }
  Generators<T> x{cauchy<T>(to_vector(c.s.select(0, batch)), to_vector(c.t.select(0, batch))),
                  to_array(c.g.select(0, batch)), to_array(c.h.select(0, batch))};
  require_valid("displacement::from_cauchy_like", x);
  return x;
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT Generators<T> from_toeplitz<T>(                                      \
      const ToeplitzView<T>&, Corners<std::type_identity_t<T>>, index_t);                        \
  template STRUCTMAT_EXPORT Generators<T> from_hankel<T>(                                        \
      const HankelView<T>&, Corners<std::type_identity_t<T>>, index_t);                          \
  template STRUCTMAT_EXPORT Generators<T> from_circulant<T>(const CirculantView<T>&,             \
                                                            std::type_identity_t<T>, index_t);   \
  template STRUCTMAT_EXPORT Generators<T> from_skew_circulant<T>(                                \
      const SkewCirculantView<T>&, std::type_identity_t<T>, index_t);                            \
  template STRUCTMAT_EXPORT Generators<T> from_vandermonde<T>(const VandermondeView<T>&,         \
                                                              std::type_identity_t<T>, index_t); \
  template STRUCTMAT_EXPORT Generators<T> from_cauchy<T>(const CauchyView<T>&, index_t);         \
  template STRUCTMAT_EXPORT Generators<T> from_cauchy_like<T>(const CauchyLikeView<T>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
