#include "structmat/dense/norm.hpp"

#include <cmath>
#include <sstream>

#include "core/finite.hpp"
#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"

namespace structmat::dense {

template <Scalar T>
double frobenius_norm(View<const T, 2> a) {
  // Row sums of squares of entries divided by a common scale, as in LAPACK's lassq.
  double scale = 0, sum = 1;
  for (index_t i = 0; i < a.extent(0); ++i) {
    double largest = 0;
    for (index_t j = 0; j < a.extent(1); ++j) {
      const double v = std::abs(a(i, j));
      if (!(v <= largest)) largest = v;
    }
    if (!std::isfinite(largest)) return largest;
    if (largest == 0) continue;
    double row = 0;
    for (index_t j = 0; j < a.extent(1); ++j) {
      const double v = std::abs(a(i, j)) / largest;
      row += v * v;
    }
    if (largest > scale) {
      sum = row + (scale == 0 ? 0 : sum * (scale / largest) * (scale / largest));
      scale = largest;
    } else {
      sum += row * (largest / scale) * (largest / scale);
    }
  }
  return scale == 0 ? 0 : scale * std::sqrt(sum);
}

template <Scalar T>
void require_finite(const char* operation, View<const T, 2> a) {
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < a.extent(1); ++j) {
      if (!is_finite(a(i, j))) {
        std::ostringstream message;
        message << operation << ": entry (" << i << ", " << j << ") is " << a(i, j)
                << ", only finite input has an answer";
        throw DomainError(message.str());
      }
    }
  }
}

template <Scalar T>
void require_square(const char* operation, View<const T, 2> a) {
  if (a.extent(0) != a.extent(1)) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(a.extent(0)) +
                     " x " + std::to_string(a.extent(1)) + ", it must be square");
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                   \
  template STRUCTMAT_EXPORT double frobenius_norm<T>(View<const T, 2>);            \
  template STRUCTMAT_EXPORT void require_square<T>(const char*, View<const T, 2>); \
  template STRUCTMAT_EXPORT void require_finite<T>(const char*, View<const T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
