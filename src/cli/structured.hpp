/// \file
/// Structured matrices in files, of whichever family and scalar type, behind few functions: their
/// numbers of types meet here and nowhere else.
#pragma once

#include <string>

#include "matrix.hpp"
#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"
#include "structmat/io/structured.hpp"

namespace structmat::cli {

/// The matrix alone, whatever its family and scalar type: action(m).
template <class F>
decltype(auto) visit_structured(F&& action, const io::AnyStructured& matrix) {
  return std::visit(
      [&](const auto& family) -> decltype(auto) { return std::visit(action, family); }, matrix);
}

/// m itself where it has scalars of type T already.
template <Scalar T, class M>
decltype(auto) in_scalar(const M& m) {
  if constexpr (std::same_as<typename M::value_type, T>) {
    return (m);
  } else {
    return io::with_scalar<T>(m);
  }
}

/// A value of the scalar type of the matrix.
using AnyScalarType = std::variant<float, double, std::complex<float>, std::complex<double>>;
AnyScalarType scalar_of(const io::AnyStructured& matrix);
AnyScalarType scalar_of(const io::AnyGenerators& generators);

/// Is this a .safetensors file of one of these families, by what it says?
bool holds_structured(const std::string& path);

/// One matrix (batch 1). Throws UsageError, structmat::Error.
io::AnyStructured read_structured(const std::string& path);

/// The family as people write it: "skew-circulant".
std::string family_of(const io::AnyStructured& matrix);
/// "low-rank, order 3, 512 x 512, float64"
std::string describe(const io::AnyStructured& matrix);
/// Numbers that the matrix stores.
index_t stored(const io::AnyStructured& matrix);
index_t rows(const io::AnyStructured& matrix);
index_t cols(const io::AnyStructured& matrix);

/// All entries. Throws UsageError when they would not fit into this machine's memory.
io::DenseMatrix expand(const io::AnyStructured& matrix);

/// y := op(A) x, computed in T, which holds every scalar of A.
template <Scalar T>
void apply_structured(const exec::cpu& e, const io::AnyStructured& a, Op op, View<const T, 2> x,
                      View<T, 2> y);

/// To .safetensors as it is, to .npy and .mtx with all entries.
void write_matrix(const std::string& path, const io::AnyStructured& matrix);

}  // namespace structmat::cli
