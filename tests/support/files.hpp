/// \file
/// Files for the tests of the readers and writers.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"

namespace structmat::test {

/// A new folder that is removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "structmat-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) FAIL("cannot create a temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// What an Error of exactly type E says.
template <class E, class F>
std::string message_of(F&& action) {
  try {
    action();
  } catch (const E& error) {
    if (typeid(error) != typeid(E)) FAIL("another type of error: " << error.what());
    return error.what();
  }
  FAIL("no error");
  return {};
}

/// Parses every proper prefix of `text`: each must be a FileError.
template <class F>
void check_truncated(const std::string& text, F&& parse) {
  for (std::size_t length = 0; length < text.size(); ++length) {
    INFO("first " << length << " of " << text.size() << " bytes");
    // A copy of exactly this length, so that a sanitizer sees every read beyond it.
    const std::vector<char> prefix(text.begin(),
                                   text.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK_THROWS_AS(parse(std::as_bytes(std::span(prefix))), FileError);
  }
}

/// Equal bit for bit: tells -0 from 0 and compares NaN.
template <class T, int Rank>
bool same_bits(const Array<T, Rank>& a, const Array<T, Rank>& b) {
  return a.extents() == b.extents() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace structmat::test
