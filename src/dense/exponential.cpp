#include "structmat/dense/exponential.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/dense/solve.hpp"

namespace structmat::dense {
namespace {

/// The largest column sum.
template <Scalar T>
double one_norm(const View<const T, 2>& a) {
  double most = 0;
  for (index_t j = 0; j < a.extent(1); ++j) {
    double sum = 0;
    for (index_t i = 0; i < a.extent(0); ++i) sum += std::abs(a(i, j));
    most = std::max(most, sum);
  }
  return most;
}

template <Scalar T>
Array<T, 2> times(const Array<T, 2>& a, const Array<T, 2>& b) {
  return product<T>(Op::none, a, Op::none, b);
}

}  // namespace

template <Scalar T>
void exponential(View<const T, 2> a, View<T, 2> e) {
  constexpr auto operation = "dense::exponential";
  require_square(operation, a);
  detail::require_extents(operation, e, {a.extent(0), a.extent(1)});
  require_finite(operation, a);
  const index_t n = a.extent(0), all = n * n;
  if (n == 0) return;

  // Scaling by a power of two is exact.
  constexpr double pade_range = 5.371920351148152;
  // Column sums of finite numbers may overflow.
  const double norm = std::min(one_norm(a), std::numeric_limits<double>::max());
  const int squarings = norm > pade_range ? 1 + std::ilogb(norm / pade_range) : 0;
  Array<T, 2> x = to_array(a);
  for (T& v : x) v *= static_cast<real_t<T>>(std::ldexp(1.0, -squarings));

  // [13/13]: exp(X) ~ (V - U)^-1 (V + U) with U odd and V even in X, from X^2, X^4 and X^6.
  constexpr std::array<double, 14> coefficients{64764752532480000,
                                                32382376266240000,
                                                7771770303897600,
                                                1187353796428800,
                                                129060195264000,
                                                10559470521600,
                                                670442572800,
                                                33522128640,
                                                1323241920,
                                                40840800,
                                                960960,
                                                16380,
                                                182,
                                                1};
  const auto c = [&](int k) { return static_cast<real_t<T>>(coefficients[k] / coefficients[0]); };
  const Array<T, 2> x2 = times(x, x), x4 = times(x2, x2), x6 = times(x4, x2);
  const auto combination = [&](int k6, int k4, int k2) {
    Array<T, 2> sum({n, n}, uninitialized);
    for (index_t i = 0; i < all; ++i) {
      sum.data()[i] = c(k6) * x6.data()[i] + c(k4) * x4.data()[i] + c(k2) * x2.data()[i];
    }
    return sum;
  };
  const auto polynomial = [&](int parity) {
    Array<T, 2> sum = times(x6, combination(12 + parity, 10 + parity, 8 + parity));
    const Array<T, 2> low = combination(6 + parity, 4 + parity, 2 + parity);
    for (index_t i = 0; i < all; ++i) sum.data()[i] += low.data()[i];
    for (index_t i = 0; i < n; ++i) sum(i, i) += c(parity);
    return sum;
  };
  const Array<T, 2> odd = times(x, polynomial(1));
  Array<T, 2> denominator = polynomial(0), result = denominator;
  for (index_t i = 0; i < all; ++i) {
    denominator.data()[i] -= odd.data()[i];
    result.data()[i] += odd.data()[i];
  }
  // Well conditioned in the range of the approximant: never singular.
  solve<T>(denominator, result);
  for (int s = 0; s < squarings; ++s) result = times(result, result);
  copy(result.view(), e);
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT void exponential<T>(View<const T, 2>, View<T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
