/// \file
/// Matrices in files: what the ending of the name means, and what to say about a matrix.
#pragma once

#include <string>
#include <variant>

#include "structmat/io/dense_matrix.hpp"
#include "structmat/io/generators.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/entry.hpp"

namespace structmat::cli {

enum class Container { npy, matrix_market, generators };

/// By the ending: .npy, .mtx or .safetensors, in any case. Throws UsageError.
Container container_of(const std::string& path);

using AnyMatrix = std::variant<io::DenseMatrix, io::AnyGenerators>;

/// Generators are those of one matrix (batch 1); structured matrices without a recurrence
/// (structured.hpp) come with all their entries. Throws UsageError, structmat::Error.
AnyMatrix read_matrix(const std::string& path);
/// The same, but generators are refused.
io::DenseMatrix read_dense(const std::string& path);

/// Dense entries; generators are expanded.
io::DenseMatrix read_entries(const std::string& path);

/// .npy or .mtx. Throws UsageError for .safetensors: dense entries do not belong there.
template <Scalar T>
void write_dense(const std::string& path, View<const T, 2> matrix);

/// All entries. Throws UsageError when they would not fit into this machine's memory.
template <class M>
Array<typename M::value_type, 2> expand(const M& generators);
io::DenseMatrix expand(const io::AnyGenerators& generators);

/// Generators to .safetensors, their entries to .npy and .mtx.
template <class M>
void write_matrix(const std::string& path, const M& generators);

/// "512 x 512, float64"
std::string describe(const io::DenseMatrix& matrix);
/// "quasiseparable, diagonal transitions, order 2 lower and 3 upper, 512 x 512, float64"
std::string describe(const io::AnyGenerators& generators);

/// Throws UsageError when `bytes` exceed this machine's memory; `what` opens the message.
void require_memory(double bytes, const std::string& what);

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
// clang before 17 deduces no aggregates of bases.
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// Implementation of the templates.

template <class M>
Array<typename M::value_type, 2> expand(const M& generators) {
  using T = typename M::value_type;
  const index_t m = generators.rows(), n = generators.cols();
  require_memory(double(m) * double(n) * sizeof(T), "the matrix in dense form");
  Array<T, 2> dense({m, n}, uninitialized);
  to_dense(generators.view(), View<T, 3>(as_batch(dense.view())));
  return dense;
}

template <class M>
void write_matrix(const std::string& path, const M& generators) {
  if (container_of(path) == Container::generators) {
    io::write_generators(path, generators);
  } else {
    using T = typename M::value_type;
    write_dense(path, View<const T, 2>(expand(generators)));
  }
}

}  // namespace structmat::cli
