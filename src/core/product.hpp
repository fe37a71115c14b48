/// \file
/// Products of scalars in plain arithmetic: multiplication of std::complex repairs NaN at a high
/// price.
#pragma once

#include "structmat/core/scalar.hpp"

namespace structmat {

/// a b
template <Scalar T>
constexpr T product(const T& a, const T& b) {
  if constexpr (is_complex_v<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

/// conj(a) b
template <Scalar T>
constexpr T conjugate_product(const T& a, const T& b) {
  return product(conjugate(a), b);
}

}  // namespace structmat
