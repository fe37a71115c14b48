/// \file
/// NumPy's .npy files.
///
/// Read: versions 1.0, 2.0 and 3.0, C and Fortran order, little- and big-endian; float32, float64,
/// complex64, complex128, bool and all integers of 1 to 8 bytes. Integers and bool become double,
/// exactly: an integer that no double equals is an error. A 1-d array of n elements becomes an (n,
/// 1) column. Written: version 1.0, C order, little-endian.
///
/// Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "structmat/core/export.hpp"
#include "structmat/io/dense_matrix.hpp"

namespace structmat::io {

/// The matrix in an .npy file. Cost: one pass; the file is mapped, so memory is needed for the
/// result only. Throws FileError (unreadable, malformed, truncated, bytes after the data, an
/// integer that is not exact) and Unsupported (other element types, 0-d, more than two dimensions);
/// the message names file and byte.
STRUCTMAT_EXPORT DenseMatrix read_npy(const std::filesystem::path& path);

/// read_npy of a file that is in memory, at any alignment. `name` stands for the file in messages.
STRUCTMAT_EXPORT DenseMatrix parse_npy(std::span<const std::byte> bytes, const std::string& name);

/// How many dimensions the array in an .npy file has, from its header alone: read_npy makes a
/// column of a 1-d array. Throws FileError.
STRUCTMAT_EXPORT index_t npy_dimensions(const std::filesystem::path& path);

/// Writes an (m, n) matrix, any strides. The file appears whole or not at all (AtomicFile). Throws
/// FileError.
STRUCTMAT_EXPORT void write_npy(const std::filesystem::path& path, View<const float, 2> matrix);
STRUCTMAT_EXPORT void write_npy(const std::filesystem::path& path, View<const double, 2> matrix);
STRUCTMAT_EXPORT void write_npy(const std::filesystem::path& path,
                                View<const std::complex<float>, 2> matrix);
STRUCTMAT_EXPORT void write_npy(const std::filesystem::path& path,
                                View<const std::complex<double>, 2> matrix);

/// Writes a 1-d array, any stride. As write_npy.
template <Scalar T>
void write_npy_vector(const std::filesystem::path& path, View<const T, 1> vector);

}  // namespace structmat::io
