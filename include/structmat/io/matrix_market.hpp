/// \file
/// Matrix Market files (.mtx): text, dense or sparse; read into a dense matrix.
///
/// Read: `array` and `coordinate`; real, integer, complex, pattern; general, symmetric,
/// skew-symmetric, hermitian; any case, LF or CR LF, comment and blank lines anywhere after the
/// first line.
/// - real, integer and pattern give double, complex gives complex<double>; a pattern entry is 1;
/// - entries of a coordinate file at the same place are summed;
/// - an integer that no double equals is an error; so is a number outside the range of double; nan
/// and inf
///   are read;
/// - symmetric kinds hold the lower triangle; an entry above the diagonal, a non-zero
/// skew-symmetric diagonal
///   and a hermitian diagonal that is not real are errors.
/// Written: `array general`, real or complex, in the shortest digits that give the same numbers
/// when read.
///
/// Source: R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats", NISTIR
/// 5935, 1996.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "structmat/core/export.hpp"
#include "structmat/io/dense_matrix.hpp"

namespace structmat::io {

struct MatrixMarketOptions {
  /// A sparse file of a few bytes can declare a dense matrix of any size: a larger result is
  /// refused.
  std::size_t limit_bytes = std::size_t{16} << 30;
};

/// The matrix in a Matrix Market file: Array<double, 2> or Array<complex<double>, 2>. Cost: one
/// pass, memory for the result only; the declared sizes are checked before memory is taken. Throws
/// FileError, which names file, line and reason, and Unsupported (`vector` objects).
STRUCTMAT_EXPORT DenseMatrix read_matrix_market(const std::filesystem::path& path,
                                                const MatrixMarketOptions& options = {});

/// read_matrix_market of a file that is in memory. `name` stands for the file in messages.
STRUCTMAT_EXPORT DenseMatrix parse_matrix_market(std::span<const std::byte> bytes,
                                                 const std::string& name,
                                                 const MatrixMarketOptions& options = {});

/// Writes an (m, n) matrix, any strides. Float is written as the double of the same value. The file
/// appears whole or not at all (AtomicFile). Throws FileError.
STRUCTMAT_EXPORT void write_matrix_market(const std::filesystem::path& path,
                                          View<const float, 2> matrix);
STRUCTMAT_EXPORT void write_matrix_market(const std::filesystem::path& path,
                                          View<const double, 2> matrix);
STRUCTMAT_EXPORT void write_matrix_market(const std::filesystem::path& path,
                                          View<const std::complex<float>, 2> matrix);
STRUCTMAT_EXPORT void write_matrix_market(const std::filesystem::path& path,
                                          View<const std::complex<double>, 2> matrix);

}  // namespace structmat::io
