#include "random_structured.hpp"

#include <fmt/format.h>

#include <numbers>

#include "command.hpp"

namespace structmat::cli {
namespace {

template <Scalar T>
Cauchy<T> random_cauchy(index_t m, index_t n, Random& random) {
  Cauchy<T> c(m, n);
  const auto imaginary = [&] {
    if constexpr (is_complex_v<T>) {
      return T(0, real_t<T>(random.normal()));
    } else {
      return T{};
    }
  };
  for (index_t i = 0; i < m; ++i) {
    c.s(0, i) = T(real_t<T>(double(i) + 0.25 + 0.5 * random.uniform())) + imaginary();
  }
  for (index_t j = 0; j < n; ++j) c.t(0, j) = T(real_t<T>(j)) + imaginary();
  return c;
}

template <Scalar T>
Vandermonde<T> random_vandermonde(index_t m, index_t n, Random& random) {
  Vandermonde<T> v(m, n);
  for (index_t i = 0; i < m; ++i) {
    if constexpr (is_complex_v<T>) {
      v.x(0, i) = T(std::polar(1.0, 2 * std::numbers::pi * random.uniform()));
    } else {
      v.x(0, i) = T(std::cos(std::numbers::pi * (double(i) + 0.5) / double(m)));
    }
  }
  return v;
}

template <Scalar T>
LogVandermonde<T> random_log_vandermonde(index_t m, index_t n, Random& random) {
  LogVandermonde<T> e(m, n);
  for (T& a : e.a) {
    const double rate = -8 * random.uniform() / double(std::max<index_t>(m, 1));
    if constexpr (is_complex_v<T>) {
      a = T(real_t<T>(rate), real_t<T>(std::numbers::pi * (2 * random.uniform() - 1)));
    } else {
      a = T(rate);
    }
  }
  return e;
}

template <Scalar T>
Monarch<T> random_monarch(index_t m, index_t n, Random& random) {
  index_t b = 0;
  while (b * b < m) ++b;
  if (b * b != m || m != n) {
    throw UsageError(fmt::format("a Monarch matrix of {} x {}: it must be b^2 x b^2", m, n));
  }
  Monarch<T> a({b, b, b}, {b, b, b});
  random.fill(a.w1);
  random.fill(a.w2);
  return a;
}

}  // namespace

template <Scalar T>
io::AnyStructured random_structured(const std::string& family, index_t m, index_t n, index_t order,
                                    std::uint64_t seed) {
  Random random(seed);
  const auto filled = [&](auto matrix, auto... part) -> io::AnyStructured {
    (random.fill(matrix.*part), ...);
    return matrix;
  };
  if (family == "toeplitz") return filled(Toeplitz<T>(m, n), &Toeplitz<T>::lags);
  if (family == "hankel") return filled(Hankel<T>(m, n), &Hankel<T>::anti_diagonals);
  if (family == "circulant") return filled(Circulant<T>(m), &Circulant<T>::column);
  if (family == "skew-circulant") return filled(SkewCirculant<T>(m), &SkewCirculant<T>::column);
  if (family == "low-rank") return filled(LowRank<T>(m, n, order), &LowRank<T>::u, &LowRank<T>::v);
  if (family == "cauchy") return random_cauchy<T>(m, n, random);
  if (family == "vandermonde") return random_vandermonde<T>(m, n, random);
  if (family == "log-vandermonde") return random_log_vandermonde<T>(m, n, random);
  if (family == "monarch") return random_monarch<T>(m, n, random);
  Butterfly<T> b(m, n, order);
  random.fill(b.factors);
  for (T& v : b.factors) v *= real_t<T>(std::sqrt(0.5));
  return b;
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template io::AnyStructured random_structured<T>(const std::string&, index_t, index_t, index_t, \
                                                  std::uint64_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::cli
