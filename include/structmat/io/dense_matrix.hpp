/// \file
/// DenseMatrix: what a reader returns when the file decides the scalar type.
#pragma once

#include <complex>
#include <string>
#include <utility>
#include <variant>

#include "structmat/core/array.hpp"

namespace structmat::io {

using DenseMatrix = std::variant<Array<float, 2>, Array<double, 2>, Array<std::complex<float>, 2>,
                                 Array<std::complex<double>, 2>>;

namespace detail {
/// Does T hold every value of U?
template <Scalar T, Scalar U>
inline constexpr bool holds = sizeof(real_t<T>) >= sizeof(real_t<U>) &&
                              (is_complex_v<T> || !is_complex_v<U>);
}  // namespace detail

/// The matrix with elements of type T: moved when it has them already, widened exactly (float to
/// double, real to complex) otherwise. Throws Unsupported where values could be lost: double to
/// float, complex to real.
template <Scalar T>
Array<T, 2> convert(DenseMatrix matrix) {
  return std::visit(
      []<Scalar U>(Array<U, 2>& from) -> Array<T, 2> {
        if constexpr (std::same_as<T, U>) {
          return std::move(from);
        } else if constexpr (detail::holds<T, U>) {
          Array<T, 2> to(from.extents(), uninitialized);
          for (index_t i = 0; i < from.size(); ++i) to.data()[i] = T(from.data()[i]);
          return to;
        } else {
          throw Unsupported("io::convert: the matrix is " + std::string(dtype_name<U>()) + ", " +
                            std::string(dtype_name<T>()) + " cannot hold its values");
        }
      },
      matrix);
}

}  // namespace structmat::io
