/// \file
/// Columns of numbers in text: time series, tables.
///
/// Separators are commas, semicolons or blanks, decided by the first line: semicolons if it has
/// any, else commas if it has any, else runs of blanks. `#` opens a comment that ends with the
/// line; blank lines are skipped; LF or CR LF; a UTF-8 byte order mark is skipped. A field may
/// stand in double quotes. The first line is a header of names if none of its fields is a number.
/// Decimal points only, in every locale.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "structmat/core/export.hpp"

namespace structmat::io {

/// Columns of equal length.
struct Columns {
  std::vector<std::string> names;  ///< from the header; empty without one
  std::vector<std::vector<double>> values;
};

/// What becomes of an empty field or a "nan".
enum class Missing {
  refuse,    ///< FileError
  skip_row,  ///< the whole line is left out, in all columns
  as_nan,    ///< NaN in the result
};

struct ColumnsOptions {
  Missing missing = Missing::refuse;
  bool allow_infinite = false;
};

/// The columns in a text file. Cost: one pass. Throws FileError, which names file, line, column and
/// reason: a field that is no number, infinite or missing ones (see ColumnsOptions), lines of
/// different lengths, a file without any field.
STRUCTMAT_EXPORT Columns read_columns(const std::filesystem::path& path,
                                      const ColumnsOptions& options = {});

/// read_columns of a file that is in memory. `name` stands for the file in messages.
STRUCTMAT_EXPORT Columns parse_columns(std::span<const std::byte> bytes, const std::string& name,
                                       const ColumnsOptions& options = {});

}  // namespace structmat::io
