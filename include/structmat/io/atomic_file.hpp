/// \file
/// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "structmat/core/export.hpp"

namespace structmat::io {

/// Writes to a temporary file beside the target and renames it on commit(). Until then the target
/// is untouched; without commit() (an exception, an early return) the temporary is removed. All
/// writers of the library go through this class.
///
/// The new file has the permissions of the file it replaces, or those that the umask gives. A
/// target that is a symbolic link is followed. A target that exists and is no regular file (a
/// folder, /dev/null) is refused: a rename would destroy it. At most 64 files can be open in this
/// way at once.
///
/// Not thread-safe per object; different objects are independent. Throws FileError.
class STRUCTMAT_EXPORT AtomicFile {
 public:
  /// `operation` opens the error messages.
  explicit AtomicFile(const std::filesystem::path& target,
                      std::string operation = "io::AtomicFile");
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends. Buffered.
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Gives the file its name; at most once, and no write may follow. With `sync`, file and folder
  /// are flushed to the disk before it returns, so that the result also survives a loss of power.
  void commit(bool sync = false);

 private:
  [[noreturn]] void fail(const char* action, int code) const;
  void write_through(const char* data, std::size_t bytes);
  void flush();
  void discard() noexcept;

  std::string operation_;
  std::filesystem::path target_;
  std::string temporary_;
  std::string buffer_;
  int slot_ = -1;
  int descriptor_ = -1;
};

/// Removes the temporary files of all AtomicFiles that are not yet committed. Async-signal-safe:
/// made for the handler of SIGINT or SIGTERM, to be followed by _exit. A later commit() of these
/// files throws.
STRUCTMAT_EXPORT void remove_pending_files() noexcept;

}  // namespace structmat::io
