// Any bytes give a matrix or an Error: no crash, and no more memory than the limit.
#include <cstddef>
#include <cstdint>
#include <span>

#include "structmat/io/matrix_market.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    structmat::io::parse_matrix_market(std::as_bytes(std::span(data, size)), "fuzz",
                                       {.limit_bytes = 1 << 16});
  } catch (const structmat::Error&) {
  }
  return 0;
}
