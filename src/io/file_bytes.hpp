/// \file
/// The content of a file as bytes, for the parsers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "structmat/core/export.hpp"

namespace structmat::io::detail {

/// Maps a regular file; reads a pipe to its end. The mapping is private and read-only; the file
/// must not be shortened by others while it is held (renaming a new one over it is fine). Throws
/// FileError: no such file, no permission, a folder or a device.
class STRUCTMAT_EXPORT FileBytes {
 public:
  FileBytes(const std::filesystem::path& path, const char* operation);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void* mapping_ = nullptr;
  std::vector<std::byte> content_;
  std::span<const std::byte> bytes_;
};

}  // namespace structmat::io::detail
