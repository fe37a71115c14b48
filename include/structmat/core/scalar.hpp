/// \file
/// The scalar types of the library: float, double and std::complex of both.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace structmat {

/// Every extent, stride and offset. 64-bit on all platforms, signed so that strides may be
/// negative.
using index_t = std::int64_t;

template <class T>
inline constexpr bool is_complex_v = false;
template <class R>
inline constexpr bool is_complex_v<std::complex<R>> = true;

template <class T>
concept RealScalar = std::same_as<T, float> || std::same_as<T, double>;

template <class T>
concept ComplexScalar =
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// A type in which matrices are stored and computed.
template <class T>
concept Scalar = RealScalar<T> || ComplexScalar<T>;

namespace detail {
template <class T>
struct RealPart {
  using type = T;
};
template <class R>
struct RealPart<std::complex<R>> {
  using type = R;
};
}  // namespace detail

/// float for float and complex<float>, double for double and complex<double>.
template <class T>
using real_t = typename detail::RealPart<T>::type;

/// Unit roundoff times two: the distance from 1 to the next number of real_t<T>.
template <Scalar T>
inline constexpr real_t<T> epsilon = std::numeric_limits<real_t<T>>::epsilon();

/// Complex conjugate; the identity for real types (std::conj would promote to complex).
template <Scalar T>
constexpr T conjugate(const T& x) {
  if constexpr (is_complex_v<T>) {
    return {x.real(), -x.imag()};
  } else {
    return x;
  }
}

/// "float32", "float64", "complex64" or "complex128": the names that NumPy uses.
template <Scalar T>
constexpr std::string_view dtype_name() {
  if constexpr (std::same_as<T, float>) return "float32";
  if constexpr (std::same_as<T, double>) return "float64";
  if constexpr (std::same_as<T, std::complex<float>>) return "complex64";
  if constexpr (std::same_as<T, std::complex<double>>) return "complex128";
}

}  // namespace structmat
