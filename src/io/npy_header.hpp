/// \file
/// The header of an .npy file: a magic string, a version, and a Python dictionary in text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "source.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::io::detail {

struct NpyHeader {
  std::string element_type;  // "f8": the dtype without its byte order
  bool swap = false;         // big-endian
  bool fortran_order = false;
  std::vector<index_t> shape;
  std::size_t data_offset = 0;
};

/// Throws FileError for a malformed header, Unsupported for a record type.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const Source& source);

}  // namespace structmat::io::detail
