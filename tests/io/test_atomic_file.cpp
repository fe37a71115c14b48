#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <memory>
#include <thread>

#include "../support/files.hpp"
#include "structmat/io/atomic_file.hpp"
#include "structmat/io/npy.hpp"

using namespace structmat;
using namespace structmat::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace fs = std::filesystem;

namespace {

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("AtomicFile appears on commit, whole", "[atomic_file]") {
  const TemporaryFolder folder;
  const bool sync = GENERATE(false, true);
  write_text(folder / "a", "old");
  const std::string large(200'000, 'x');  // more than the buffer
  {
    io::AtomicFile file(folder / "a");
    file.write("new ");
    file.write(large);
    file.write("end");
    CHECK(read_text(folder / "a") == "old");
    CHECK(folder.files() == 2);
    file.commit(sync);
    CHECK(read_text(folder / "a") == "new " + large + "end");
    CHECK(folder.files() == 1);
  }
  CHECK(read_text(folder / "a") == "new " + large + "end");
}

TEST_CASE("AtomicFile without commit leaves everything as it was", "[atomic_file]") {
  const TemporaryFolder folder;
  write_text(folder / "a", "old");
  try {
    io::AtomicFile old_file(folder / "a"), new_file(folder / "b");
    old_file.write("half");
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {
  }
  CHECK(read_text(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("AtomicFile takes over permissions and follows links", "[atomic_file]") {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  io::AtomicFile(folder / "new").commit();
  ::umask(mask);
  CHECK(mode_of(folder / "new") == 0640);

  write_text(folder / "a", "old");
  REQUIRE(::chmod((folder / "a").c_str(), 0604) == 0);
  fs::create_symlink("a", folder / "link");
  fs::create_symlink("later", folder / "dangling");
  fs::create_symlink("loop", folder / "loop");
  CHECK_THROWS_AS(io::AtomicFile(folder / "loop"), FileError);
  for (const char* name : {"link", "dangling"}) {
    io::AtomicFile file(folder / name);
    file.write("new");
    file.commit();
    CHECK(fs::is_symlink(folder / name));
  }
  CHECK(read_text(folder / "a") == "new");
  CHECK(mode_of(folder / "a") == 0604);
  CHECK(read_text(folder / "later") == "new");
}

TEST_CASE("AtomicFile accepts relative names", "[atomic_file]") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  io::AtomicFile file("a");
  fs::current_path(before);
  file.commit();
  CHECK(fs::exists(folder / "a"));
}

TEST_CASE("AtomicFile says why it cannot write", "[atomic_file]") {
  const TemporaryFolder folder;
  const auto error = [](const fs::path& path) {
    return message_of<FileError>([&] { io::AtomicFile(path, "io::test").commit(); });
  };
  const auto nowhere = folder / "none/a";
  CHECK_THAT(error(nowhere), Equals("io::test: " + nowhere.string() +
                                    ": cannot create a temporary file beside it: No such file or "
                                    "directory"));
  CHECK_THAT(error("/dev/null"),
             Equals("io::test: /dev/null: exists and is not a regular file; it would be replaced"));
  CHECK_THAT(error(folder.path()), Contains("not a regular file"));
  CHECK_THAT(error("/proc/a"), Contains("cannot create a temporary file beside it"));
  for (std::size_t length : {300, 5000}) {
    CHECK_THAT(error(folder / std::string(length, 'x')),
               Contains("cannot be written: File name too long"));
  }

  fs::create_directory(folder / "locked");
  fs::permissions(folder / "locked", fs::perms(0555));
  // Root may write to every folder, so the test steps down for a moment.
  fs::permissions(folder.path(), fs::perms(0755));
  const uid_t user = ::geteuid();
  constexpr uid_t nobody = 65534;
  if (user == 0) REQUIRE(::seteuid(nobody) == 0);
  const std::string locked = error(folder / "locked/a");
  if (user == 0) REQUIRE(::seteuid(user) == 0);
  CHECK_THAT(locked, Contains("cannot create a temporary file beside it: Permission denied"));
  CHECK_THAT(message_of<FileError>([&] {
               io::write_npy(nowhere, Array<double, 2>({1, 1}));
             }),
             Contains("io::write_npy: " + nowhere.string()));
  CHECK(folder.files() == 1);
}

TEST_CASE("AtomicFile reports a full disk and cleans up", "[atomic_file]") {
  // A limit on the size of files stands for the full disk, in a process of its own.
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
      io::AtomicFile file(folder / "a");
      file.write(std::string(5000, 'x'));
      file.commit();
    } catch (const FileError& error) {
      ::_exit(std::string(error.what()).find("cannot write: File too large") != std::string::npos
                  ? 0
                  : 2);
    }
    ::_exit(1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(folder.files() == 0);
}

TEST_CASE("remove_pending_files leaves nothing, and commit says so", "[atomic_file]") {
  const TemporaryFolder folder;
  write_text(folder / "a", "old");
  io::AtomicFile first(folder / "a"), second(folder / "b");
  io::AtomicFile(folder / "done").commit();
  CHECK(folder.files() == 4);
  io::remove_pending_files();
  CHECK(folder.files() == 2);
  CHECK_THAT(message_of<FileError>([&] { first.commit(); }), Contains("cannot rename to it"));
  CHECK(read_text(folder / "a") == "old");
}

TEST_CASE("a signal handler removes the pending files", "[atomic_file]") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGINT, [](int) {
      io::remove_pending_files();
      ::_exit(130);
    });
    io::AtomicFile file(folder / "a");
    file.write(std::string(100'000, 'x'));
    std::raise(SIGINT);
    ::_exit(1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(folder.files() == 0);
}

TEST_CASE("AtomicFiles are independent across threads, up to 64", "[atomic_file]") {
  const TemporaryFolder folder;
  const auto work = [&](int thread) {
    for (int i = 0; i < 100; ++i) {
      io::AtomicFile file(folder / ("t" + std::to_string(thread)));
      file.write("x");
      file.commit();
    }
  };
  std::thread first(work, 1), second(work, 2);
  for (int i = 0; i < 100; ++i) io::AtomicFile unfinished(folder / "never");
  first.join();
  second.join();
  CHECK(folder.files() == 2);

  std::vector<std::unique_ptr<io::AtomicFile>> open;
  for (int i = 0; i < 64; ++i) {
    open.push_back(std::make_unique<io::AtomicFile>(folder / ("f" + std::to_string(i))));
  }
  CHECK_THAT(message_of<FileError>([&] { io::AtomicFile one_more(folder / "g"); }),
             Contains("64 files are being written already"));
  open.pop_back();
  io::AtomicFile(folder / "g").commit();
}
