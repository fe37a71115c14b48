// Any bytes give a matrix of rationals or an Error: no crash.
#include <cstddef>
#include <cstdint>
#include <span>

#include "structmat/exact/read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    structmat::exact::parse_matrix(std::as_bytes(std::span(data, size)), "fuzz",
                                   {.limit_bytes = 1 << 16});
  } catch (const structmat::Error&) {
  }
  return 0;
}
