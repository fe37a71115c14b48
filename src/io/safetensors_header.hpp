/// \file
/// The JSON header of a safetensors file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "source.hpp"
#include "structmat/io/safetensors.hpp"

namespace structmat::io::detail {

inline constexpr std::string_view metadata_name = "__metadata__";

/// Metadata entries with this prefix, followed by the name of an array, declare it complex.
inline constexpr std::string_view complex_prefix = "structmat.dtype.";

/// The value of such an entry.
inline std::string_view complex_dtype(std::string_view stored) {
  return stored == "F32" ? "complex64" : "complex128";
}

struct SafetensorsHeader {
  std::map<std::string, TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON, without building a document: memory is in proportion to what is kept, and
/// nesting is bounded. Checks the form only, not that the numbers fit together. Throws FileError.
SafetensorsHeader parse_safetensors_header(std::string_view json, const Source& source);

}  // namespace structmat::io::detail
