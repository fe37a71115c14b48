/// \file
/// Matrices of rationals from files: every number is kept as it is written.
///
/// | content               | numbers                                                              |
/// |-----------------------|----------------------------------------------------------------------|
/// | Matrix Market         | array and coordinate; integer, real (decimals and fractions), pattern (1); general, symmetric, skew-symmetric; entries at the same place are summed |
/// | .npy                  | real, as io::read_npy reads them: doubles are the fractions that they are |
/// | text, any other start | rows of decimals and fractions between blanks, commas or semicolons; # starts a comment |
///
/// Numbers are those of Rational::parse: 3, -3/4, 0.125, 1e-3.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "structmat/exact/matrix.hpp"

namespace structmat::exact {

struct ReadOptions {
  /// A sparse file of a few bytes can declare a dense matrix of any size: one that takes more than
  /// this (16 bytes an entry, without the digits of long numbers) is refused.
  std::size_t limit_bytes = std::size_t{16} << 30;
};

/// The matrix in a file, whose first bytes tell its kind. Throws FileError (file, line and reason)
/// and Unsupported (complex numbers, what io::read_npy does not read).
STRUCTMAT_EXPORT Matrix<RationalField> read_matrix(const std::filesystem::path& path,
                                                   const ReadOptions& options = {});

/// read_matrix of a file that is in memory. `name` stands for the file in messages.
STRUCTMAT_EXPORT Matrix<RationalField> parse_matrix(std::span<const std::byte> bytes,
                                                    const std::string& name,
                                                    const ReadOptions& options = {});

}  // namespace structmat::exact
