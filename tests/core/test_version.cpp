#include "structmat/core/version.hpp"

#include <catch2/catch.hpp>
#include <cctype>
#include <string>

using namespace structmat;

namespace {

// An independent answer: which version of this function does the dynamic linker choose?
#if defined(__x86_64__)
__attribute__((target("default"))) std::string chosen() {
  return "default";
}
__attribute__((target("arch=x86-64-v3"))) std::string chosen() {
  return "x86-64-v3";
}
__attribute__((target("arch=x86-64-v4"))) std::string chosen() {
  return "x86-64-v4";
}
#else
std::string chosen() {
  return "default";
}
#endif

}  // namespace

TEST_CASE("version has three numbers") {
  const std::string v(version());
  int dots = 0;
  for (char c : v) {
    if (c == '.') ++dots;
    CHECK((c == '.' || std::isdigit(static_cast<unsigned char>(c))));
  }
  CHECK(dots == 2);
}

TEST_CASE("git_commit is a hexadecimal number or unknown") {
  const std::string commit(git_commit());
  if (commit != "unknown") {
    CHECK(commit.size() >= 12);
    CHECK(commit.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
}

TEST_CASE("build_type agrees with this file's") {
#ifdef NDEBUG
  CHECK(build_type() != "Debug");
#else
  CHECK(build_type() == "Debug");
#endif
}

TEST_CASE("blas_vendor has a name") {
  CHECK_FALSE(blas_vendor().empty());
}

TEST_CASE("simd_path is what the dynamic linker chooses") {
  CHECK(simd_path() == chosen());
}
