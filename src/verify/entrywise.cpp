#include "structmat/verify/entrywise.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/finite.hpp"
#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"
#include "structmat/dense/norm.hpp"
#include "verify/half.hpp"

namespace structmat::verify {
namespace {

std::string name_of(const char* structure) {
  return std::string("verify::") + structure;
}

/// The tolerance in force, after the checks that all structures share.
template <Scalar T>
double checked_tolerance(const char* structure, const View<const T, 2>& a,
                         const EntrywiseOptions& options) {
  const std::string operation = name_of(structure);
  dense::require_finite(operation.c_str(), a);
  const double tolerance =
      options.tolerance.value_or(double(std::max(a.extent(0), a.extent(1))) * double(epsilon<T>));
  require_tolerance(operation, tolerance);
  return tolerance;
}

/// Fills in the deviation, where measure(i, j) is that of one entry.
template <Scalar T, class Measure>
void measure_all(Deviation& d, const View<const T, 2>& a, double tolerance,
                 const Measure& measure) {
  d.tolerance = tolerance;
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < a.extent(1); ++j) {
      const double v = measure(i, j);
      if (v <= d.largest) continue;
      d.largest = v;
      d.row = i;
      d.col = j;
    }
  }
  d.holds = d.largest <= tolerance;
}

/// |a_ij - expected(i, j)| / ||A||_F. Halves are compared: a difference must not overflow.
template <Scalar T, class Expected>
void measure_by_norm(Deviation& d, const View<const T, 2>& a, double tolerance,
                     const Expected& expected) {
  const double norm = dense::frobenius_norm(a);
  const auto half = real_t<T>(0.5);
  measure_all(d, a, tolerance, [&](index_t i, index_t j) {
    const double difference = std::abs(a(i, j) * half - expected(i, j) * half);
    return difference > 0 ? difference / (norm / 2) : 0;
  });
}

template <Scalar T>
std::vector<T> to_vector(const View<const T, 1>& v) {
  std::vector<T> out(v.extent(0));
  for (index_t i = 0; i < v.extent(0); ++i) out[i] = v(i);
  return out;
}

/// Row or column `index`, empty when the matrix is.
template <Scalar T>
std::vector<T> line(const View<const T, 2>& a, int dimension, index_t index) {
  return a.empty() ? std::vector<T>{} : to_vector(a.select(dimension, index));
}

}  // namespace

template <Scalar T>
ToeplitzFound<T> toeplitz(View<const T, 2> a, const EntrywiseOptions& options) {
  const double tolerance = checked_tolerance("toeplitz", a, options);
  ToeplitzFound<T> found;
  found.column = line(a, 1, 0);
  found.row = line(a, 0, 0);
  measure_by_norm(found, a, tolerance, [&](index_t i, index_t j) {
    return i >= j ? found.column[i - j] : found.row[j - i];
  });
  return found;
}

template <Scalar T>
HankelFound<T> hankel(View<const T, 2> a, const EntrywiseOptions& options) {
  const double tolerance = checked_tolerance("hankel", a, options);
  HankelFound<T> found;
  const index_t last = a.extent(0) - 1;
  found.column = line(a, 1, 0);
  found.row = line(a, 0, last);
  measure_by_norm(found, a, tolerance, [&](index_t i, index_t j) {
    return i + j <= last ? found.column[i + j] : found.row[i + j - last];
  });
  return found;
}

template <Scalar T>
CirculantFound<T> circulant(View<const T, 2> a, const EntrywiseOptions& options) {
  dense::require_square("verify::circulant", a);
  const double tolerance = checked_tolerance("circulant", a, options);
  CirculantFound<T> found;
  const index_t n = a.extent(0);
  found.column = line(a, 1, 0);
  measure_by_norm(found, a, tolerance,
                  [&](index_t i, index_t j) { return found.column[i >= j ? i - j : i - j + n]; });
  return found;
}

template <Scalar T>
BandFound banded(View<const T, 2> a, const EntrywiseOptions& options) {
  const double tolerance = checked_tolerance("banded", a, options);
  BandFound found;
  const double bound = tolerance * dense::frobenius_norm(a);
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < a.extent(1); ++j) {
      if (!(std::abs(a(i, j)) > bound)) continue;
      found.lower = std::max(found.lower, i - j);
      found.upper = std::max(found.upper, j - i);
    }
  }
  measure_by_norm(found, a, tolerance, [&](index_t i, index_t j) {
    return i - j > found.lower || j - i > found.upper ? T{} : a(i, j);
  });
  return found;
}

template <Scalar T>
Deviation diagonal(View<const T, 2> a, const EntrywiseOptions& options) {
  const double tolerance = checked_tolerance("diagonal", a, options);
  Deviation found;
  measure_by_norm(found, a, tolerance,
                  [&](index_t i, index_t j) { return i == j ? a(i, j) : T{}; });
  return found;
}

template <Scalar T>
Deviation triangular(View<const T, 2> a, Part part, const EntrywiseOptions& options) {
  const double tolerance = checked_tolerance("triangular", a, options);
  Deviation found;
  measure_by_norm(found, a, tolerance, [&](index_t i, index_t j) {
    return (part == Part::lower ? i >= j : i <= j) ? a(i, j) : T{};
  });
  return found;
}

template <Scalar T>
Deviation symmetric(View<const T, 2> a, const EntrywiseOptions& options) {
  dense::require_square("verify::symmetric", a);
  const double tolerance = checked_tolerance("symmetric", a, options);
  Deviation found;
  measure_by_norm(found, a, tolerance, [&](index_t i, index_t j) { return a(j, i); });
  return found;
}

template <Scalar T>
Deviation hermitian(View<const T, 2> a, const EntrywiseOptions& options) {
  dense::require_square("verify::hermitian", a);
  const double tolerance = checked_tolerance("hermitian", a, options);
  Deviation found;
  measure_by_norm(found, a, tolerance, [&](index_t i, index_t j) { return conjugate(a(j, i)); });
  return found;
}

template <Scalar T>
VandermondeFound<T> vandermonde(View<const T, 2> a, const EntrywiseOptions& options) {
  const double tolerance = checked_tolerance("vandermonde", a, options);
  VandermondeFound<T> found;
  if (a.extent(1) > 1) found.nodes = line(a, 1, 1);
  // In double: float must not spend its accuracy, nor its range, on the comparison.
  using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
  Wide power{};
  measure_all(found, a, tolerance, [&](index_t i, index_t j) {
    power = j == 0 ? Wide(1) : power * Wide(found.nodes[i]);
    if (!is_finite(power)) return 1.0;
    const double difference = std::abs(Wide(a(i, j)) - power);
    // Numbers that are no longer normal have lost relative accuracy.
    if (difference <= double(std::numeric_limits<real_t<T>>::min())) return 0.0;
    return difference / std::max(double(std::abs(a(i, j))), std::abs(power));
  });
  return found;
}

template <Scalar T>
CauchyFound<T> cauchy(View<const T, 2> a, const EntrywiseOptions& options) {
  const double tolerance = checked_tolerance("cauchy", a, options);
  CauchyFound<T> found;
  if (a.empty()) {
    found.tolerance = tolerance;
    return found;
  }
  const auto reciprocal = [&](index_t i, index_t j) { return T{1} / a(i, j); };
  for (index_t i = 0; i < a.extent(0); ++i) found.s.push_back(reciprocal(i, 0));
  for (index_t j = 0; j < a.extent(1); ++j) found.t.push_back(found.s[0] - reciprocal(0, j));
  measure_all(found, a, tolerance, [&](index_t i, index_t j) {
    const T w = reciprocal(i, j), first = reciprocal(0, j);
    const double scale = double(std::abs(w)) + double(std::abs(found.s[i])) +
                         double(std::abs(found.s[0])) + double(std::abs(first));
    const double v = std::abs(w - (found.s[i] - found.t[j])) / scale;
    return std::isfinite(v) && std::isfinite(scale) ? v : 1.0;
  });
  return found;
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT ToeplitzFound<T> toeplitz<T>(View<const T, 2>,                       \
                                                         const EntrywiseOptions&);               \
  template STRUCTMAT_EXPORT HankelFound<T> hankel<T>(View<const T, 2>, const EntrywiseOptions&); \
  template STRUCTMAT_EXPORT CirculantFound<T> circulant<T>(View<const T, 2>,                     \
                                                           const EntrywiseOptions&);             \
  template STRUCTMAT_EXPORT BandFound banded<T>(View<const T, 2>, const EntrywiseOptions&);      \
  template STRUCTMAT_EXPORT Deviation diagonal<T>(View<const T, 2>, const EntrywiseOptions&);    \
  template STRUCTMAT_EXPORT Deviation triangular<T>(View<const T, 2>, Part,                      \
                                                    const EntrywiseOptions&);                    \
  template STRUCTMAT_EXPORT Deviation symmetric<T>(View<const T, 2>, const EntrywiseOptions&);   \
  template STRUCTMAT_EXPORT Deviation hermitian<T>(View<const T, 2>, const EntrywiseOptions&);   \
  template STRUCTMAT_EXPORT VandermondeFound<T> vandermonde<T>(View<const T, 2>,                 \
                                                               const EntrywiseOptions&);         \
  template STRUCTMAT_EXPORT CauchyFound<T> cauchy<T>(View<const T, 2>, const EntrywiseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
