#include "file_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "structmat/core/error.hpp"

namespace structmat::io::detail {

namespace {

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path, const char* operation) {
  const auto fail = [&](const std::string& reason) {
    throw FileError(std::string(operation) + ": " + path.string() + ": " + reason);
  };
  const auto message = [] { return std::generic_category().message(errno); };

  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail(message());
  struct stat status {};
  if (::fstat(file.value, &status) != 0) fail(message());
  if (S_ISDIR(status.st_mode)) fail("is a folder");
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) fail("is neither a file nor a pipe");

  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
    if (mapping == MAP_FAILED) fail(message());
    mapping_ = mapping;
    bytes_ = {static_cast<const std::byte*>(mapping), size};
    return;
  }
  // A pipe, an empty file, or one whose size the kernel does not know (under /proc).
  constexpr std::size_t step = 1 << 16;
  for (std::size_t size = 0;;) {
    content_.resize(size + step);
    const ssize_t got = ::read(file.value, content_.data() + size, step);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(message());
    size += static_cast<std::size_t>(got);
    if (got == 0) {
      content_.resize(size);
      break;
    }
  }
  bytes_ = content_;
}

FileBytes::~FileBytes() {
  if (mapping_ != nullptr) ::munmap(mapping_, bytes_.size());
}

}  // namespace structmat::io::detail
