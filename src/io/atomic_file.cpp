#include "structmat/io/atomic_file.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "structmat/core/error.hpp"

namespace structmat::io {

namespace {

namespace fs = std::filesystem;

/// A signal handler may neither lock nor allocate, so the pending names lie in a fixed table. A
/// slot goes empty -> filling -> pending -> empty; the handler holds it in `removing` while it
/// reads the name.
enum State : int { empty, filling, pending, removing };

struct Slot {
  std::atomic<int> state{empty};
  char name[PATH_MAX];
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<Slot, 64> slots;

int register_pending(const std::string& name) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = empty;
    if (!slots[i].state.compare_exchange_strong(expected, filling)) continue;
    std::memcpy(slots[i].name, name.c_str(), name.size() + 1);
    slots[i].state = pending;
    return static_cast<int>(i);
  }
  return -1;
}

void release_pending(int slot) noexcept {
  int expected = pending;
  while (!slots[slot].state.compare_exchange_weak(expected, empty)) {
    expected = pending;  // a handler on another thread is reading the name, which takes one unlink
    sched_yield();
  }
}

/// The file that a rename must replace: links are followed, also those that lead to no file yet.
fs::path resolve(const fs::path& target) {
  fs::path path = fs::absolute(target);
  std::error_code code;
  // The kernel's own limit; a longer chain, or a loop, is reported by the stat that follows.
  for (int links = 0; links < 40; ++links) {
    const fs::path next = fs::read_symlink(path, code);
    if (code) break;
    path = path.parent_path() / next;
  }
  return path;
}

std::string temporary_name(const fs::path& target) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    number = reinterpret_cast<std::uintptr_t>(&number);
  }
  char name[64];
  std::snprintf(name, sizeof name, ".structmat-%ld-%016llx.tmp", static_cast<long>(getpid()),
                static_cast<unsigned long long>(number));
  return (target.parent_path() / name).string();
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& target, std::string operation)
    : operation_(std::move(operation)), target_(target) {
  target_ = resolve(target);
  struct stat existing {};
  const bool exists = ::stat(target_.c_str(), &existing) == 0;
  if (!exists && errno != ENOENT) fail("cannot be written", errno);
  if (exists && !S_ISREG(existing.st_mode)) {
    throw FileError(operation_ + ": " + target.string() +
                    ": exists and is not a regular file; it would be replaced");
  }
  temporary_ = temporary_name(target_);
  if (temporary_.size() >= PATH_MAX) fail("cannot create a temporary file beside it", ENAMETOOLONG);

  // Registered before it exists: a signal between the two then finds nothing to remove, not an
  // orphan.
  slot_ = register_pending(temporary_);
  if (slot_ < 0) {
    throw FileError(operation_ + ": " + target.string() + ": " + std::to_string(slots.size()) +
                    " files are being written already");
  }
  // Not mkostemp: its mode 0600 ignores the umask, which can be read only by changing it.
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int code = errno;
    release_pending(std::exchange(slot_, -1));
    fail("cannot create a temporary file beside it", code);
  }
  if (exists && ::fchmod(descriptor_, existing.st_mode & 07777) != 0) {
    const int code = errno;
    discard();
    fail("cannot take over its permissions", code);
  }
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::fail(const char* action, int code) const {
  throw FileError(operation_ + ": " + target_.string() + ": " + action + ": " +
                  std::generic_category().message(code));
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  constexpr std::size_t capacity = 1 << 16;
  if (buffer_.size() + bytes > capacity) flush();
  if (bytes > capacity) {
    write_through(static_cast<const char*>(data), bytes);
  } else {
    buffer_.append(static_cast<const char*>(data), bytes);
  }
}

void AtomicFile::write_through(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, data, bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("cannot write", errno);
    }
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::flush() {
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::commit(bool sync) {
  flush();
  if (sync && ::fsync(descriptor_) != 0) fail("cannot flush to the disk", errno);
  // Some file systems report a failed write only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("cannot close", errno);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot rename to it", errno);
  release_pending(std::exchange(slot_, -1));
  if (sync) {
    const int folder = ::open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool flushed = folder >= 0 && ::fsync(folder) == 0;
    const int code = errno;
    if (folder >= 0) ::close(folder);
    if (!flushed) fail("written, but cannot flush its folder to the disk", code);
  }
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (slot_ >= 0) {
    ::unlink(temporary_.c_str());
    release_pending(std::exchange(slot_, -1));
  }
}

void remove_pending_files() noexcept {
  const int saved = errno;
  for (Slot& slot : slots) {
    int expected = pending;
    if (!slot.state.compare_exchange_strong(expected, removing)) continue;
    ::unlink(slot.name);
    slot.state = pending;
  }
  errno = saved;
}

}  // namespace structmat::io
