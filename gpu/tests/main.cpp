// Catch2's main, which returns 77 where there is no device or a test was skipped: CTest then says "Skipped".
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdio>

#include "structmat/core/device.hpp"
#include "support/gpu.hpp"

int main(int argc, char** argv) {
  if (structmat::device_count() == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  const int failures = Catch::Session().run(argc, argv);
  return failures == 0 && structmat::test::any_skipped() ? 77 : failures;
}
