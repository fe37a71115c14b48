#include "structmat/butterfly/fourier.hpp"

#include <cmath>
#include <numbers>

#include "core/instantiate.hpp"

namespace structmat::butterfly {
namespace {

/// Factors [1, w; 1, -w] with w = twiddle(k, s) for pair k of a block of a factor of stride s.
template <Scalar T, class Twiddle>
Butterfly<T> radix_two(const char* operation, index_t levels, const Twiddle& twiddle) {
  constexpr index_t most = 40;
  if (levels < 0 || levels > most) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(levels) +
                     " levels, it takes 0 to " + std::to_string(most));
  }
  const index_t n = index_t{1} << levels;
  Butterfly<T> b(n, n);
  for (index_t f = 0; f < levels; ++f) {
    const index_t s = index_t{1} << f;
    for (index_t p = 0; p < n / 2; ++p) {
      const T w = twiddle(p % s, s);
      b.factors(0, f, p, 0, 0) = b.factors(0, f, p, 1, 0) = T{1};
      b.factors(0, f, p, 0, 1) = w;
      b.factors(0, f, p, 1, 1) = -w;
    }
  }
  return b;
}

}  // namespace

template <ComplexScalar T>
Butterfly<T> fourier(index_t levels) {
  return radix_two<T>("butterfly::fourier", levels, [](index_t k, index_t s) {
    const double angle = -std::numbers::pi * double(k) / double(s);
    return T(std::polar(1.0, angle));
  });
}

template <Scalar T>
Butterfly<T> hadamard(index_t levels) {
  return radix_two<T>("butterfly::hadamard", levels, [](index_t, index_t) { return T{1}; });
}

template STRUCTMAT_EXPORT Butterfly<std::complex<float>> fourier(index_t);
template STRUCTMAT_EXPORT Butterfly<std::complex<double>> fourier(index_t);
#define STRUCTMAT_INSTANTIATE(T) template STRUCTMAT_EXPORT Butterfly<T> hadamard<T>(index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::butterfly
