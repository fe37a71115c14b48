/// \file
/// Vectors in files.
#pragma once

#include <string>
#include <variant>

#include "structmat/core/array.hpp"

namespace structmat::cli {

using AnyVector = std::variant<Array<float, 1>, Array<double, 1>, Array<std::complex<float>, 1>,
                               Array<std::complex<double>, 1>>;

/// A column or a row of a .npy or .mtx file, or the first column of any other file, as text. Throws
/// UsageError for a matrix of several rows and columns, FileError.
AnyVector read_vector(const std::string& path);

}  // namespace structmat::cli
